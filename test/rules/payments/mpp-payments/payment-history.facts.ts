/**
 * The facts around the rules of a modelled machine payment: a policy that allows everything but what the model is about.
 * @module
 */
import { evaluateChallenge } from '../../../../src/domains/payments/mpp-credentials/challenge-evaluation.rules.ts';
import {
  type Decision,
  type decideAuthorization,
  noPriorMessages,
  type TokenFacts,
} from '../../../../src/domains/payments/network/authorization.rules.ts';
import { noSpending, type Policy } from '../../../../src/domains/spending/policies/policy.rules.ts';
import { defaultTerms } from '../../../../src/domains/spending/policies/preset.rules.ts';
import { harmlessCard } from '../../../support/factories/card-facts.ts';

export const tolerancePercent = 5;

const policy: Policy = {
  id: 'po_aaaaaaaa',
  version: 1,
  ...defaultTerms,
  name: 'model',
  requireIntent: true,
  amountTolerancePercent: tolerancePercent,
  updatedAt: new Date('2026-03-01T00:00:00Z'),
};
const limits = { maxTransactionCents: null, dailyLimitCents: null, monthlyLimitCents: null };
const payee = { host: 'shop.example', recipient: 'm', reference: 'm' };

type Matchable = { readonly id: string; readonly expectedAmountCents: number };

export const challengeFits = (intent: Matchable, amountCents: number, expires: Date, now: Date): boolean =>
  evaluateChallenge(
    {
      challenge: { id: 'ch_1', expires: expires.toISOString() },
      charge: { amountCents, acceptedNetworks: ['visa'] },
      intent: { id: intent.id, expectedAmountCents: intent.expectedAmountCents },
      decision: { outcome: 'approved', rule: 'allowed', reason: 'allowed' },
      ...{ payee, tolerancePercent, brand: 'visa', protection: undefined },
    },
    now,
  ).ok;

type Asked = {
  readonly intent: Matchable | undefined;
  readonly promised: (Matchable & { readonly transactionId: string }) | undefined;
  readonly token: TokenFacts;
  readonly cents: number;
  readonly at: Date;
  readonly isFrozen: boolean;
};

export function decideCharge(
  decide: typeof decideAuthorization,
  { intent, promised, token, cents, at, isFrozen }: Asked,
): Decision {
  const candidates = [intent, promised].flatMap((one) =>
    one === undefined ? [] : [{ ...one, expectedMerchant: null, isAutoApproved: true, attestedAt: null }],
  );
  return decide({
    spending: {
      at,
      policy,
      agent: { status: 'active' },
      card: { ...harmlessCard, status: isFrozen ? 'frozen' : 'active', limits },
      request: {
        amountCents: cents,
        merchant: { id: 'm', name: 'Shop' },
        mcc: '5734',
        country: 'DE',
        kind: 'purchase',
      },
      counters: noSpending,
      phase: 'charge',
      risk: { outcome: 'allow', signals: [] },
    },
    candidates,
    token,
    availableCents: 1_000_000,
    partialSupported: false,
    before: noPriorMessages,
  });
}
