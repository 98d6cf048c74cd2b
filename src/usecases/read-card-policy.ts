/** What a card may still spend: its own limits beside its agent's policy, and what both have seen spent. A read. @module */
import type { Database } from '../db/database.ts';
import { oneRow } from '../db/tx.ts';
import { type CardPolicyWire, type CardRecord, isCoolingDown, narrowest, remaining } from '../domains/cards/index.ts';
import { expiryOf, type Policy, policyOf, policyOfAgent } from '../domains/spending/policies/index.ts';
import { eurosFromCents } from '../kernel/money.ts';

type Sums = {
  today: number;
  month: number;
  cardToday: number;
  cardMonth: number;
  lastPaymentAt: Date | null;
};

export const createReadCardPolicy =
  ({ database }: { readonly database: Database }) =>
  async (card: CardRecord, at: Date): Promise<CardPolicyWire> => {
    const tx = database.read();
    const row = await policyOfAgent(tx, card.agentId);
    // As a charge counts: declared intents are not spent.
    const sums = await oneRow<Sums>(
      tx,
      `select spent_today_cents as "today", spent_this_month_cents as "month", card_spent_today_cents as "cardToday",
         card_spent_this_month_cents as "cardMonth", last_payment_at as "lastPaymentAt"
       from spending_counters($1, $2, $3, true)`,
      [card.agentId, card.id, at],
    );
    return viewOf(card, row === null ? null : policyOf(row), sums, at);
  };

/** Without a policy nothing may be spent, whatever the card's own limits are. */
function viewOf(card: CardRecord, policy: Policy | null, sums: Sums, at: Date): CardPolicyWire {
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
    cooldownActive: isCoolingDown({ cooldownMinutes, lastPaymentAt: sums.lastPaymentAt }, at),
    spendStats: {
      dailySpent: eurosFromCents(sums.cardToday),
      monthlySpent: eurosFromCents(sums.cardMonth),
      dailyRemaining: euros(left(card.dailyLimitCents, sums.cardToday, policy?.dailyLimitCents ?? null, sums.today)),
      monthlyRemaining: euros(
        left(card.monthlyLimitCents, sums.cardMonth, policy?.monthlyLimitCents ?? null, sums.month),
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

const euros = (amountCents: number | null): number | null =>
  amountCents === null ? null : eurosFromCents(amountCents);
