/**
 * The rows of a decided increment: its decision, its place in the life of the transaction, and the larger hold. In the
 * transaction that has locked the payment. No decision is made here.
 * @module
 */
import * as z from 'zod';
import { columnRow, jsonInstant } from '../../../db/column-row.ts';
import { centsValue } from '../../../db/row-values.ts';
import { oneRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Cause } from '../../../platform/cause.ts';
import { spendingCounters } from '../../spending/policies/index.ts';
import type { CounterFacts } from '../../spending/policies/policy.rules.ts';
import type { TransactionRow } from '../transactions/transaction.entity.ts';
import { lockTransaction } from '../transactions/transaction.queries.ts';
import type { Decision } from './authorization.rules.ts';
import type { AuthorizationFacts } from './authorization-facts.ts';
import type { IncrementMessage } from './network.contract.ts';

const loaded = z.object({
  facts: columnRow({
    counters: spendingCounters(jsonInstant),
    token: columnRow({ ceilingCents: centsValue.nullable(), host: z.string().nullable() }).nullable(),
  }),
});

export type PaymentSoFar = {
  /** Without this payment, of the day and month in which it counts. */
  readonly counters: CounterFacts;
  /** The payment token that it was made with. */
  readonly token: { readonly ceilingCents: number | null; readonly host: string | null } | null;
};

/** Everything that may change the decision waits for this transaction. Ledger accounts are locked later. */
export async function lockForIncrement(tx: Tx, transactionId: string): Promise<TransactionRow> {
  await runSql(tx, 'select lock_increment($1)', [transactionId]);
  return lockTransaction(tx, transactionId);
}

export async function paymentSoFar(tx: Tx, transactionId: string, at: Date): Promise<PaymentSoFar> {
  return (await oneRowOf(tx, loaded, 'select increment_facts($1, $2) as facts', [transactionId, at])).facts;
}

type Decided = {
  readonly row: TransactionRow;
  readonly message: IncrementMessage;
  readonly facts: AuthorizationFacts;
  readonly counters: CounterFacts;
  readonly availableCents: number;
  readonly decision: Decision;
};

/** No personal data: amounts, codes, versions and the merchant, as for an authorization. */
export async function keepIncrementDecision(
  tx: Tx,
  { row, message, facts: { agent, card, policy }, counters, availableCents, decision }: Decided,
  { at }: Cause,
): Promise<void> {
  const facts = {
    amountCents: message.amountCents,
    approvedCents: decision.approvedCents,
    heldCents: row.heldCents,
    clearedCents: row.clearedCents,
    kind: 'increment',
    partialSupported: message.partialSupported,
    merchant: { id: row.merchantId, name: row.merchant, mcc: row.merchantMcc, country: row.merchantCountry },
    agent: { status: agent.status, version: agent.version },
    card: { status: card.status, usage: card.usage, version: card.version },
    counters,
    availableCents,
    remedy: decision.remedy,
  };
  const { outcome, rule, reason, trace } = decision;
  const about = { adapter: row.adapter, transaction_id: row.id, message_id: message.id };
  const ofPolicy = { policy_id: policy?.id ?? null, policy_version: policy?.version ?? null };
  await runSql(tx, 'select keep_increment_decision($1::jsonb)', [
    JSON.stringify({ ...about, ...ofPolicy, outcome, rule, reason, facts, trace, at }),
  ]);
}
