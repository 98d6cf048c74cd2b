/**
 * The locks that every payment takes, in the order of "Who waits for whom" in README.md. They are released when the
 * caller's transaction ends. Accounts of the ledger are always locked after them.
 * @module
 */
import { sql } from 'kysely';
import * as z from 'zod';
import { type Given, query } from '../../../db/db.ts';
import { oneRowOf, runSql } from '../../../db/statement.ts';
import { columnsOf, type RowOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import { type IntentRow, IntentSchema } from '../../spending/intents/index.ts';
import type { TransactionRow } from './transaction.entity.ts';
import { lockTransaction, lockTransactions } from './transaction.queries.ts';

/** A transaction that changes what an agent has spent takes this lock first, and then locks rows. */
export async function lockSpending(tx: Tx, agentId: string): Promise<void> {
  await runSql(tx, 'select lock_spending($1)', [agentId]);
}

const lockedIntent = query((from, given: Given<{ id: string }>) =>
  from
    .selectFrom(sql<RowOf<'intents'>>`lock_intent_for_payment(${given('id')})`.as('i'))
    .select(columnsOf(IntentSchema)),
);

/** The same for the agent of an intent, and then the intent, to be read; null where there is none. */
export const lockIntentForPayment = (tx: Tx, intentId: string): Promise<Readonly<IntentRow> | null> =>
  lockedIntent.first(tx, { id: intentId });

/** For booking on it: with its agent, card and intent. */
export async function lockPayment(tx: Tx, transactionId: string): Promise<TransactionRow> {
  await runSql(tx, 'select lock_payments($1::text[])', [[transactionId]]);
  return lockTransaction(tx, transactionId);
}

/** Many at once, in the order of their ids. */
export async function lockPayments(tx: Tx, transactionIds: readonly string[]): Promise<TransactionRow[]> {
  await runSql(tx, 'select lock_payments($1::text[])', [[...transactionIds]]);
  return lockTransactions(tx, transactionIds);
}

/** For deciding anew: all that a decision looks at. Answers with the agent's funding source. */
export async function lockDecision(
  tx: Tx,
  { agentId, cardId }: { agentId: string; cardId: string },
  at: Date,
): Promise<string> {
  const { fundingSource } = await oneRowOf(
    tx,
    z.object({ fundingSource: z.string() }),
    'select lock_decision($1, $2, $3) as "fundingSource"',
    [agentId, cardId, at],
  );
  return fundingSource;
}

/** For letting a declined charge pass once: all that a decision looks at, and the requests to a person about the card. */
export async function lockAllowing(
  tx: Tx,
  { agentId, cardId }: { agentId: string; cardId: string },
  at: Date,
): Promise<void> {
  await runSql(tx, 'select lock_allowing($1, $2, $3)', [agentId, cardId, at]);
}
