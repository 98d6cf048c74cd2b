/** Window reads of recurring intents: one, the one that a transaction pays for, and pages. No decision is made here. @module */
import { rows, type Tx } from '../../../../db/tx.ts';
import type { WindowStatus } from './window.rules.ts';

export type WindowRow = {
  readonly intentId: `int_${string}`;
  readonly number: number;
  readonly dueAt: Date;
  readonly fromAt: Date;
  readonly toAt: Date;
  readonly status: WindowStatus;
  readonly transactionId: string | null;
  readonly completedAt: Date | null;
};

export const windowColumns = `intent_id as "intentId", number, due_at as "dueAt", from_at as "fromAt", to_at as "toAt",
  status, transaction_id as "transactionId", completed_at as "completedAt"`;

const selected = `select ${windowColumns} from intent_windows`;

export async function findWindow(tx: Tx, intentId: string, number: number): Promise<WindowRow | null> {
  const [found] = await rows<WindowRow>(tx, `${selected} where intent_id = $1 and number = $2`, [intentId, number]);
  return found ?? null;
}

export async function windowOfTransaction(tx: Tx, intentId: string, transactionId: string): Promise<WindowRow | null> {
  const [found] = await rows<WindowRow>(tx, `${selected} where transaction_id = $2 and intent_id = $1`, [
    intentId,
    transactionId,
  ]);
  return found ?? null;
}

export const latestCompletedWindow = (tx: Tx, intentId: string): Promise<WindowRow | null> =>
  latestWindow(tx, intentId, 'completed');

/** Paid for, and waiting for the clearing. */
export const latestMatchedWindow = (tx: Tx, intentId: string): Promise<WindowRow | null> =>
  latestWindow(tx, intentId, 'matched');

async function latestWindow(tx: Tx, intentId: string, status: WindowStatus): Promise<WindowRow | null> {
  const [found] = await rows<WindowRow>(
    tx,
    `${selected} where intent_id = $1 and status = $2 order by number desc limit 1`,
    [intentId, status],
  );
  return found ?? null;
}

/** Up to `limit + 1` rows, latest window first, below `before`. */
export const listWindows = (
  tx: Tx,
  intentId: string,
  { limit, before }: { limit: number; before: number | undefined },
): Promise<WindowRow[]> =>
  rows<WindowRow>(
    tx,
    `${selected} where intent_id = $1 and ($2::int is null or number < $2) order by number desc limit $3`,
    [intentId, before ?? null, limit + 1],
  );
