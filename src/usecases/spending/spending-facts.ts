/** The sums that a spending decision compares with its limits. The network's decision reads them in its own SQL. @module */
import * as z from 'zod';
import { oneRowOf } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import type { CounterFacts, SpendingFacts } from '../../domains/spending/policies/policy.rules.ts';
import { spendingCounters } from '../../domains/spending/policies/spending-counters.queries.ts';
import { add } from '../../kernel/money.ts';

const counters = spendingCounters(z.date());

type CounterScope = {
  readonly agentId: string;
  /** Null leaves the card's own sums at zero. */
  readonly cardId: string | null;
  readonly phase: SpendingFacts['phase'];
};

/** What the agent has spent, and at declaration also what its open approved intents may still spend. */
export async function countersOf(tx: Tx, { agentId, cardId, phase }: CounterScope, at: Date): Promise<CounterFacts> {
  const countsCharges = phase !== 'declare';
  const sums = await oneRowOf(tx, counters, 'select * from spending_counters($1, $2, $3, $4)', [
    agentId,
    cardId,
    at,
    countsCharges,
  ]);
  return {
    ...sums,
    spentTodayCents: add(sums.spentTodayCents, sums.openIntentsCents),
    spentThisMonthCents: add(sums.spentThisMonthCents, sums.openIntentsThisMonthCents),
  };
}
