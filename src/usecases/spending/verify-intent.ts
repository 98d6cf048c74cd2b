/**
 * Compares the actual payment with the declared one, once the intent is paid, and marks intent and transactions. A
 * mismatch changes nothing else; it sends an event, and the owner decides what to do.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import { markVerified, transactionsPaidFor } from '../../domains/payments/transactions/verification.service.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { lockIntent } from '../../domains/spending/intents/intent.lock.service.ts';
import { findIntent } from '../../domains/spending/intents/intent.queries.ts';
import type { VerifyBody } from '../../domains/spending/intents/intent-declaration.contract.ts';
import { mismatchesOf } from '../../domains/spending/intents/verification.rules.ts';
import { noteVerified } from '../../domains/spending/intents/verification.service.ts';
import { latestCompletedWindow } from '../../domains/spending/intents/windows/window.queries.ts';
import { tolerancePercentOf } from '../../domains/spending/policies/intent-match.rules.ts';
import { policyOfAgent } from '../../domains/spending/policies/policy.queries.ts';
import { type Call, mayReach, ownOf } from '../../http/caller.ts';
import type { ReachedId } from '../../http/reaches.ts';
import { DomainError } from '../../kernel/errors.ts';

export type Verified = {
  readonly intentId: ReachedId<'intent'>;
  readonly verified: boolean;
  readonly mismatches: string[];
  readonly transactionsUpdated: number;
};

export const verifyIntent =
  ({ database }: { readonly database: Database }) =>
  (intentId: ReachedId<'intent'>, actual: VerifyBody, call: Call): Promise<Verified> =>
    database.write((tx) => verify(tx, intentId, actual, call));

async function verify(tx: Tx, intentId: ReachedId<'intent'>, actual: VerifyBody, call: Call): Promise<Verified> {
  mayReach(ownOf(call), 'intent', intentId, await findIntent(tx, intentId));
  const intent = await lockIntent(tx, intentId);
  const transactionId = await paidBy(tx, intent);
  const mismatches = mismatchesOf(
    {
      amountCents: intent.expectedAmountCents,
      merchant: intent.recurring?.merchantMatch === false ? null : (intent.expectedMerchant ?? null),
      tolerancePercent: await toleranceOf(tx, intent),
    },
    { amountCents: actual.actualAmountCents, merchant: actual.actualMerchant },
  );
  const transactions = await transactionsPaidFor(tx, intentId, transactionId);
  await markVerified(tx, transactions, mismatches, call.cause);
  await noteVerified(tx, intent, mismatches, call.cause);
  return {
    intentId,
    verified: mismatches.length === 0,
    mismatches,
    transactionsUpdated: transactions.length,
  };
}

/** The charge of the last completed window; undefined for an intent of one payment: whatever has paid for it. */
async function paidBy(tx: Tx, intent: IntentRow): Promise<string | undefined> {
  if (intent.recurring != null) {
    const window = await latestCompletedWindow(tx, intent.id);
    if (window?.transactionId != null) return window.transactionId;
    throw new DomainError('invalid_state', 'no window of the intent is completed yet; verify it once one is paid for');
  }
  if (intent.status === 'completed') return undefined;
  throw new DomainError('invalid_state', `the intent is ${intent.status}; only a completed one can be verified`);
}

async function toleranceOf(tx: Tx, { recurring, agentId }: IntentRow): Promise<number> {
  const policy = await policyOfAgent(tx, agentId);
  return tolerancePercentOf(recurring?.amountTolerancePercent, policy?.amountTolerancePercent);
}
