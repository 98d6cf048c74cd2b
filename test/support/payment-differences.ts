/**
 * Asks the product's pure rules what the model has decided, about the same facts, and says in words where they differ.
 * So the steps that need no stack test these rules as well.
 * @module
 */
import {
  type Candidate,
  type Decision,
  type DecisionFacts,
  decideAuthorization,
  noPriorMessages,
} from '../../src/domains/payments/network/authorization.rules.ts';
import { decideIncrement } from '../../src/domains/payments/network/increment.rules.ts';
import type { TransactionState } from '../../src/domains/payments/transactions/transaction.rules.ts';
import { noSpending } from '../../src/domains/spending/policies/policy.rules.ts';
import { defaultTerms } from '../../src/domains/spending/policies/preset.rules.ts';
import { cents } from '../../src/kernel/money.ts';
import { harmlessCard } from './factories/card-facts.ts';
import type { Ask, Decided, IncrementAsk, PayingIntent, Situation } from './payment-decisions.ts';

const shop = { id: 'sandbox-shop', name: 'Sandbox Shop', mcc: '5734', country: 'DE' };

const candidateOf = (intent: PayingIntent): Candidate => ({
  id: intent.id,
  expectedAmountCents: intent.amountCents,
  expectedMerchant: intent.isNamed ? shop.name : null,
  tolerancePercent: intent.ownTolerancePercent ?? null,
  isRecurring: intent.isRecurring,
  isAutoApproved: !intent.isByPerson,
  attestedAt: null,
});

type Asked = {
  readonly situation: Situation;
  readonly amountCents: number;
  readonly isVerification: boolean;
  readonly takesParts: boolean;
  readonly isRecurring: boolean;
};

function factsOf({ situation, amountCents, isVerification, takesParts, isRecurring }: Asked, at: Date): DecisionFacts {
  const { terms, agent, card, isUsedUp, spentTodayCents, spentThisMonthCents, availableCents } = situation;
  const named = { id: 'po_aaaaaaaa', version: 1, name: 'rules', updatedAt: at };
  return {
    spending: {
      at,
      policy: { ...named, ...defaultTerms, requireIntent: false, ...terms },
      agent: { status: agent },
      card: { ...harmlessCard, status: card, usage: isUsedUp ? 'single' : 'multi' },
      request: {
        amountCents,
        merchant: { id: shop.id, name: shop.name },
        mcc: shop.mcc,
        country: shop.country,
        kind: isVerification ? 'verification' : 'purchase',
        recurring: isRecurring,
      },
      counters: { ...noSpending, spentTodayCents, spentThisMonthCents, usageCount: isUsedUp ? 1 : 0 },
      phase: 'charge',
      risk: { outcome: 'allow', signals: [] },
    },
    candidates: [],
    token: null,
    availableCents,
    partialSupported: takesParts,
    before: noPriorMessages,
  };
}

const differs = (what: string, product: object, model: object): string | undefined => {
  const [one, other] = [JSON.stringify(product), JSON.stringify(model)];
  return one === other ? undefined : `${what}: the product's rules say ${one}, the model ${other}`;
};

const inShort = ({ outcome, approvedCents, holdCents, rule, candidate, needsPerson }: Decision): Decided => ({
  ...{ outcome, approvedCents, holdCents, rule, intentId: candidate?.id ?? null, needsPerson },
});

export function chargeDifference(ask: Ask, model: Decided, at: Date): string | undefined {
  const { collectedCents, isFinal, reversedCents, isReversedWhole, isBooked } = ask.earlier;
  const allows = { transactionId: 'tx_allowed', merchant: shop };
  const facts: DecisionFacts = {
    ...factsOf(ask, at),
    candidates: [...ask.intents.map(candidateOf), ...ask.allowing.map((one) => ({ ...candidateOf(one), allows }))],
    before: {
      ...{ collectedCents: cents(collectedCents), isFinal, isBooked },
      reversals: { cents: reversedCents, isWhole: isReversedWhole },
    },
  };
  const { outcome, approvedCents, holdCents, rule, intentId, needsPerson } = model;
  const decided = { outcome, approvedCents, holdCents, rule, intentId, needsPerson };
  return differs('charge', inShort(decideAuthorization(facts)), decided);
}

type Increased = TransactionState & { readonly isVerification: boolean; readonly holdExpiresAt: Date | null };

export function incrementDifference(
  ask: IncrementAsk,
  payment: Increased & { readonly intentId: string | null },
  model: Pick<Decided, 'outcome' | 'approvedCents' | 'rule'>,
  at: Date,
): string | undefined {
  const asked = { ...ask, amountCents: 0, isVerification: false, isRecurring: false };
  const candidates =
    ask.intent === undefined
      ? []
      : [{ ...candidateOf(ask.intent), expectedMerchant: null, closedBecause: ask.isPaying ? undefined : 'taken' }];
  const card: DecisionFacts = { ...factsOf(asked, at), candidates };
  const { outcome, approvedCents, rule } = decideIncrement({ payment, amountCents: ask.amountCents, card });
  return differs('increment', { outcome, approvedCents, rule }, model);
}
