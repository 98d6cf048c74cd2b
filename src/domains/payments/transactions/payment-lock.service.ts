/**
 * The locks that every payment takes, in the order of "Who waits for whom" in README.md. They are released when the
 * caller's transaction ends. Accounts of the ledger are always locked after them.
 * @module
 */
import * as z from 'zod';
import { firstRowOf, oneRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { TransactionRow } from './transaction.entity.ts';
import { lockTransaction, lockTransactions } from './transaction.queries.ts';

/** A transaction that changes what an agent has spent takes this lock first, and then locks rows. */
export async function lockSpending(tx: Tx, agentId: string): Promise<void> {
  await runSql(tx, 'select lock_spending($1)', [agentId]);
}

const lockedHolder = z.object({ ownerId: z.string(), agentId: z.string() });

/** The same for the agent of an intent, whose owner and agent it answers with; null where there is no such intent. */
export async function lockSpendingForIntent(
  tx: Tx,
  intentId: string,
): Promise<{ readonly ownerId: string; readonly agentId: string } | null> {
  const found = await firstRowOf(
    tx,
    lockedHolder,
    'select owner_id as "ownerId", agent_id as "agentId" from lock_spending_for_intent($1)',
    [intentId],
  );
  return found ?? null;
}

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
