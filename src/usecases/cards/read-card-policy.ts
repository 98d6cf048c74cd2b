/** The limits of a card beside its agent's policy, with the spent and the remaining amounts. A read. @module */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import type { CardRecord } from '../../domains/cards/cards/card.queries.ts';
import { isCoolingDown, narrowest, remaining } from '../../domains/cards/cards/card-policy.rules.ts';
import type { CardPolicyWire } from '../../domains/cards/cards/card-shapes.contract.ts';
import { merchantsPaidBy } from '../../domains/payments/transactions/transaction.queries.ts';
import { policyOfAgent } from '../../domains/spending/policies/policy.queries.ts';
import {
  type CounterFacts,
  expiryOf,
  isStillMerchant,
  type Policy,
} from '../../domains/spending/policies/policy.rules.ts';
import { policyOf } from '../../domains/spending/policies/policy.wire.ts';
import { cents, centsOrNull, eurosFromCents, eurosOrNull } from '../../kernel/money.ts';
import { countersOf } from '../spending/spending-facts.ts';

export const readCardPolicy =
  ({ database }: { readonly database: Database }) =>
  async (card: CardRecord, at: Date): Promise<CardPolicyWire> => {
    const tx = database.read();
    const row = await policyOfAgent(tx, card.agentId);
    // As a charge counts: declared intents are not spent.
    const spent = await countersOf(tx, { agentId: card.agentId, cardId: card.id, phase: 'charge' }, at);
    const policy = row === null ? null : policyOf(row);
    return { ...viewOf(card, policy, spent, at), merchantLock: await lockOf(tx, card, policy, spent) };
  };

/** A lock is on the agent's first merchant, whichever of its cards paid it. */
async function lockOf(
  tx: Tx,
  { agentId }: CardRecord,
  policy: Policy | null,
  { firstMerchant: first }: CounterFacts,
): Promise<CardPolicyWire['merchantLock']> {
  if (policy?.lockToFirstMerchant !== true || first === null) return null;
  const paid = await merchantsPaidBy(tx, agentId);
  return {
    merchant: first.name || first.domain || null,
    merchantId: first.id || null,
    mcc: first.mcc || null,
    names: [...new Set(paid.filter((merchant) => isStillMerchant(first, merchant)).map(({ name }) => name))],
  };
}

/** Without a policy nothing may be spent, whatever the card's own limits are. */
function viewOf(
  card: CardRecord,
  policy: Policy | null,
  counters: CounterFacts,
  at: Date,
): Omit<CardPolicyWire, 'merchantLock'> {
  const expiresAt = policy === null ? null : expiryOf(policy);
  const cooldownMinutes = policy?.cooldownMinutes ?? null;
  const left = (ofCard: number | null, spentByCard: number, ofPolicy: number | null, spent: number) =>
    policy === null
      ? 0
      : remaining({ limitCents: ofCard, spentCents: spentByCard }, { limitCents: ofPolicy, spentCents: spent });
  return {
    cardId: card.id,
    status: card.status,
    usage: card.usage,
    isExpired: expiresAt !== null && at >= expiresAt,
    expiresAt: expiresAt?.toISOString() ?? null,
    cooldownActive: isCoolingDown({ cooldownMinutes, lastPaymentAt: counters.lastPaymentAt }, at),
    spendStats: {
      dailySpent: eurosFromCents(cents(counters.cardSpentTodayCents)),
      monthlySpent: eurosFromCents(cents(counters.cardSpentThisMonthCents)),
      dailyRemaining: euros(
        left(
          card.dailyLimitCents,
          counters.cardSpentTodayCents,
          policy?.dailyLimitCents ?? null,
          counters.spentTodayCents,
        ),
      ),
      monthlyRemaining: euros(
        left(
          card.monthlyLimitCents,
          counters.cardSpentThisMonthCents,
          policy?.monthlyLimitCents ?? null,
          counters.spentThisMonthCents,
        ),
      ),
    },
    effectivePolicy: {
      maxTransactionEuros: euros(narrowest(card.maxTransactionCents, policy?.maxTransactionCents ?? null)),
      dailyLimitEuros: euros(narrowest(card.dailyLimitCents, policy?.dailyLimitCents ?? null)),
      monthlyLimitEuros: euros(narrowest(card.monthlyLimitCents, policy?.monthlyLimitCents ?? null)),
      autoApproveLimitEuros: euros(policy?.autoApproveLimitCents ?? null),
      lockToFirstMerchant: policy?.lockToFirstMerchant ?? false,
      cooldownMinutes,
    },
  };
}

const euros = (amountCents: number | null) => eurosOrNull(centsOrNull(amountCents));
