/** The sums that a spending decision compares with its limits. The network's decision reads them in its own SQL. @module */
import { rows, type Tx } from '../../db/tx.ts';
import {
  type CounterFacts,
  type MerchantFacts,
  noSpending,
  type SpendingFacts,
} from '../../domains/spending/policies/index.ts';
import { add, cents } from '../../kernel/money.ts';

type CounterScope = {
  readonly agentId: string;
  /** Null leaves the card's own sums at zero. */
  readonly cardId: string | null;
  readonly phase: SpendingFacts['phase'];
};

/** What the agent has spent, and at declaration also what its open approved intents may still spend. */
export async function countersOf(tx: Tx, { agentId, cardId, phase }: CounterScope, at: Date): Promise<CounterFacts> {
  const countsCharges = phase !== 'declare';
  const [sums] = await rows<Sums>(tx, 'select * from spending_counters($1, $2, $3, $4)', [
    agentId,
    cardId,
    at,
    countsCharges,
  ]);
  if (sums === undefined) return noSpending;
  return {
    spentTodayCents: add(sums.spent_today_cents, sums.open_intents_cents),
    spentThisMonthCents: add(sums.spent_this_month_cents, sums.open_intents_this_month_cents),
    cardSpentTodayCents: cents(sums.card_spent_today_cents),
    cardSpentThisMonthCents: cents(sums.card_spent_this_month_cents),
    lastPaymentAt: sums.last_payment_at,
    usageCount: sums.usage_count,
    firstMerchant: sums.first_merchant,
  };
}

type Sums = {
  spent_today_cents: number;
  spent_this_month_cents: number;
  open_intents_cents: number;
  open_intents_this_month_cents: number;
  card_spent_today_cents: number;
  card_spent_this_month_cents: number;
  last_payment_at: Date | null;
  usage_count: number;
  first_merchant: MerchantFacts | null;
};
