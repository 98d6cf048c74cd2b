/**
 * Opens intents again whose payments have come to nothing: many at once, each for its own cause. The number of statements
 * does not depend on the number of intents. The caller has locked the rows.
 * @module
 */
import * as z from 'zod';
import { rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';
import { recordMoves } from '../../../platform/transitions.ts';
import { wakeWorkflowRunsAt } from '../../../platform/workflow-runs.ts';
import type { IntentRow } from './intent.entity.ts';
import { intentWorkflowId } from './intent.messages.ts';
import { moveIntent } from './intent.rules.ts';
import { stateOf } from './intent.state.service.ts';
import { dueAt } from './windows/current-window.ts';

type Reopened = { readonly row: IntentRow; readonly cause: Cause };

export async function reopenIntents(tx: Tx, intents: readonly Reopened[]): Promise<void> {
  if (intents.length === 0) return;
  const seen = await movedBefore(tx, intents);
  const moved = intents.flatMap(({ row, cause }) => {
    const from = row.status;
    const move = moveIntent(stateOf(row), 'unmatch', seen.has(row.id));
    if (move.outcome === 'refused') throw new DomainError('invalid_state', move.why);
    if (move.outcome === 'already') return [];
    Object.assign(row, { status: move.next, updatedAt: cause.at });
    releasePayer(row);
    return [{ rowId: row.id, from, to: move.next, cause }];
  });
  await tx.flush();
  await recordMoves(tx, 'intent', moved);
  const ids = new Set<string>(moved.map(({ rowId }) => rowId));
  const rows = intents.flatMap(({ row }) => (ids.has(row.id) ? [row] : []));
  await wakeWorkflowRunsAt(
    tx,
    rows.map((row) => ({ id: intentWorkflowId(row.id), dueAt: dueAt(row) })),
  );
}

export function releasePayer(row: IntentRow): void {
  row.matchedTransactionId = null;
  row.transactionId = null;
  row.transferId = null;
}

const movedIntent = z.object({ id: z.string() });

async function movedBefore(tx: Tx, intents: readonly Reopened[]): Promise<ReadonlySet<string>> {
  const found = await rowsOf(
    tx,
    movedIntent,
    `select t.row_id as id from unnest($1::text[], $2::text[]) as asked (id, cause_id)
     join transitions t on t.noun = 'intent' and t.row_id = asked.id and t.cause_id = asked.cause_id`,
    [intents.map(({ row }) => row.id), intents.map(({ cause }) => cause.causeId)],
  );
  return new Set(found.map(({ id }) => id));
}
