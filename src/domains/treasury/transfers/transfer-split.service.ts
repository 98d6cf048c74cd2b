/**
 * Keeps splits in step with their lines, in the transaction that moves the lines: status, events and the runs that wait.
 * Any number of splits in a fixed number of statements. The caller holds the locks of the lines.
 * @module
 */

import { sql } from 'kysely';
import { type Given, query } from '../../../db/db.ts';
import { runSql } from '../../../db/statement.ts';
import { columnsOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChangesOfCauses } from '../../../events/record.ts';
import { assert } from '../../../kernel/assert.ts';
import type { Cause } from '../../../platform/cause.ts';
import { closeWorkflowRuns, wakeWorkflowRuns } from '../../../platform/workflow-runs.ts';
import { TransferSplitSchema } from './transfer.entity.ts';
import { linesOfSplits, type SplitRow, type SplitView } from './transfer.queries.ts';
import { splitData } from './transfer.wire.ts';
import { transferSplitWorkflowId } from './transfer-split.messages.ts';
import { isSettled, type SplitDecision, splitFacts, splitStage, splitStatus } from './transfer-split.rules.ts';

const locked = query((from, given: Given<{ ids: readonly string[] }>) =>
  from
    .selectFrom('transferSplits')
    .select(columnsOf(TransferSplitSchema))
    .where(sql<boolean>`id = any(${given('ids')}::text[])`)
    .orderBy('id')
    .forNoKeyUpdate(),
);

/** Their lines are read after the locks: what moved a line before has committed, or is this transaction. */
export async function lockSplits(tx: Tx, ids: readonly string[]): Promise<SplitView[]> {
  const rows: readonly SplitRow[] = await locked.all(tx, { ids });
  const lines = await linesOfSplits(tx, ids);
  return rows.map((row) => ({ ...row, transfers: lines.filter(({ splitId }) => splitId === row.id) }));
}

/**
 * After lines have moved. Each of them makes a new version of its split, so that the run takes the newest answer.
 * Splits are locked after all lines and accounts. `causes`: by split, what moved its last line; one message of a bank
 * moves lines of several owners.
 */
export async function updateSplits(tx: Tx, causes: ReadonlyMap<string, Cause>): Promise<void> {
  if (causes.size === 0) return;
  const causeOf = ({ id }: SplitView): Cause => {
    const cause = causes.get(id);
    assert(cause !== undefined, `split ${id} was asked for`);
    return cause;
  };
  const before = await lockSplits(tx, [...causes.keys()]);
  const after = before.map((row): SplitView => {
    const cause = causeOf(row);
    const status = splitStatus(splitStage(row.transfers));
    const completedAt = row.completedAt ?? (isSettled(status) ? cause.at : null);
    return { ...row, status, completedAt, updatedAt: cause.at };
  });
  await runSql(
    tx,
    `update transfer_splits s set status = n.status, completed_at = n."completedAt", updated_at = n."updatedAt"
     from jsonb_to_recordset($1::jsonb) as n (id text, status text, "completedAt" timestamptz, "updatedAt" timestamptz)
     where s.id = n.id`,
    [JSON.stringify(after.map(({ id, status, completedAt, updatedAt }) => ({ id, status, completedAt, updatedAt })))],
  );
  const caused = after.map((row, index) => {
    const event = eventOf(before[index], row);
    return { cause: causeOf(row), changes: event === undefined ? [] : [splitChange(event, row)] };
  });
  await recordChangesOfCauses(tx, caused);
  await wakeRuns(tx, after);
}

function eventOf(before: SplitView | undefined, after: SplitView): SplitEvent | undefined {
  if (before === undefined || before.status === after.status) return undefined;
  return before.completedAt === null && after.completedAt !== null
    ? 'transfer.split.completed'
    : 'transfer.split.updated';
}

type SplitEvent = 'transfer.split.created' | 'transfer.split.updated' | 'transfer.split.completed';

export const splitChange = (event: SplitEvent, row: SplitView, details: Record<string, unknown> = {}): Change => ({
  event,
  ownerId: row.ownerId,
  agentId: row.agentId,
  subjectId: row.id,
  data: splitData(row),
  details: { totalCents: row.totalAmountCents, status: row.status, ...details },
});

async function wakeRuns(tx: Tx, rows: readonly SplitView[]): Promise<void> {
  const isOver = ({ transfers }: SplitView): boolean => splitFacts(transfers).final;
  const runs = (some: readonly SplitView[]) => some.map(({ id }) => transferSplitWorkflowId(id));
  // Only a message moves a split: its lines have the due times.
  await wakeWorkflowRuns(tx, runs(rows.filter((row) => !isOver(row))), null);
  await closeWorkflowRuns(tx, runs(rows.filter(isOver)));
}

export type PersonsDecision = {
  readonly decision: SplitDecision;
  readonly by: string;
  readonly reason: string | null;
};

/** Notes what a person decided, before the lines move. The first decision stays. */
export async function saveSplitDecision(
  tx: Tx,
  cause: Cause,
  id: string,
  { decision, by, reason }: PersonsDecision,
): Promise<void> {
  await runSql(
    tx,
    `update transfer_splits set decision = $2, decided_by = $3, decided_at = $4, decision_reason = $5, updated_at = $4
     where id = $1 and decision is null`,
    [id, decision, by, cause.at, reason],
  );
}
