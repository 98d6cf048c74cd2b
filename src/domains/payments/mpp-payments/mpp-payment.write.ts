/**
 * Writes one step of a machine payment and what belongs to it in one statement (`write-mpp-payment.sql`). Decides
 * nothing.
 * @module
 */
import * as z from 'zod';
import { columnsOfRow } from '../../../db/column-names.ts';
import { oneRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Change, draftRecords, publishChanges } from '../../../events/record.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { WorkflowRun } from '../../../platform/workflow-runs.ts';
import type { MppPaymentRow } from './mpp-payment.entity.ts';
import type { MppPaymentStatus } from './mpp-payment.rules.ts';

export type KeptBody = { readonly sealedBody: string; readonly keptUntil: Date };

export type RunWrite =
  | { readonly kind: 'close'; readonly id: string; readonly wakes: boolean }
  | { readonly kind: 'due'; readonly id: string; readonly dueAt: Date | null; readonly wakes: boolean };

type Transition = { readonly from: MppPaymentStatus; readonly to: MppPaymentStatus };

type Write = {
  readonly set: Partial<MppPaymentRow>;
  readonly body?: KeptBody;
  readonly run?: RunWrite;
  /** The intent has a charge: it is released, and nothing follows for it. The rows are locked first. */
  readonly releasesPaid?: true;
  /** There is an answer for the callers of the payment, who are notified. */
  readonly isAnswered?: true;
} & (
  | { readonly transition?: undefined }
  | {
      readonly transition: Transition;
      readonly cause: Cause;
      /** Those of the same write that led to it. */
      readonly before?: readonly (Transition & { readonly cause: Cause })[];
      readonly changes: readonly Change[];
    }
);

const written = z.object({ version: z.int().nullable() });

/**
 * Answers the new version of the row; undefined where the cause has moved the row before. Fails with BP001 where the row
 * is another version than the given one.
 */
export async function writeMppPayment(tx: Tx, row: Readonly<MppPaymentRow>, write: Write): Promise<number | undefined> {
  const records = write.transition === undefined ? none : draftRecords(write.cause, write.changes);
  const version = await carryOut(tx, { ...columnsOfWrite(row, write), ...records });
  if (version === null) return undefined;
  if (write.transition !== undefined && records.events.length > 0) publishChanges(write.cause, records);
  return version;
}

/** Of `quietWrite`, in a statement of its own. Null where the cause has moved the row before. */
export async function carryOut(tx: Tx, write: object): Promise<number | null> {
  const statement = 'select write_mpp_payment($1::jsonb) as version';
  return (await oneRowOf(tx, written, statement, [JSON.stringify(write)])).version;
}

/** For a statement that also writes other rows; of a write without events. */
export const quietWrite = (row: Readonly<MppPaymentRow>, write: Write): object => ({
  ...columnsOfWrite(row, write),
  ...none,
});

function columnsOfWrite(row: Readonly<MppPaymentRow>, write: Write): object {
  const { set, body, run, releasesPaid, isAnswered } = write;
  return {
    id: row.id,
    version: row.version,
    at: set.updatedAt,
    set: columnsOfRow(set),
    transitions: write.transition === undefined ? [] : transitionsOf(write),
    ...(body === undefined ? {} : { body }),
    ...(run === undefined ? {} : { run }),
    ...(isAnswered === true ? { isAnswered } : {}),
    ...(releasesPaid === true ? { locks: true, releasesPaid: row.intentId } : {}),
  };
}

type Moving = Extract<Write, { readonly transition: Transition }>;

const transitionsOf = ({ before = [], transition, cause }: Moving): readonly object[] =>
  [...before, { ...transition, cause }].map(({ from, to, cause: { causeId, at } }) => ({
    cause: causeId,
    at,
    from,
    to,
  }));

const none = { events: [], audits: [] };

type Opening = {
  readonly change: Change;
  readonly run: Pick<WorkflowRun, 'id' | 'workflow' | 'stage' | 'amountCents'>;
  readonly intentRunId: string;
};

/** A new payment with its workflow run, and the intent that is kept for it. */
export async function insertMppPayment(
  tx: Tx,
  row: Readonly<MppPaymentRow>,
  cause: Cause,
  { change, run, intentRunId }: Opening,
): Promise<void> {
  const records = draftRecords(cause, [change]);
  const payload = { row: columnsOfRow(row), cause: cause.causeId, run, intentRunId, ...records };
  await runSql(tx, 'select open_mpp_payment($1::jsonb)', [JSON.stringify(payload)]);
  publishChanges(cause, records);
}
