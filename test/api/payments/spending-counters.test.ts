/**
 * Goal: a payment counts on its own UTC day and in its own UTC month, and on no other. Method: rows of several days, and
 * the counters of PostgreSQL at the first and the last moment of a day and of a month.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aPayer, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let payer: Payer;
beforeAll(async () => {
  world = await startWorld();
  payer = await aPayer(world);
  await world.sql(
    `insert into spending_days (agent_id, card_id, day, spent_cents, payments)
     select $1, d.card, d.day::date, d.cents, 1 from (values
       ($2, '2026-02-28', 1), ($2, '2026-03-01', 10), ($2, '2026-03-30', 100), ($2, '2026-03-31', 1000),
       ('ca_another1', '2026-03-31', 10000), ($2, '2026-04-01', 100000)) as d (card, day, cents)`,
    [payer.agentId, payer.cardId],
  );
});
afterAll(async () => {
  await world.close();
});

test.each([
  ['2026-02-28T23:59:59.999Z', { today: 1, month: 1, cardToday: 1, cardMonth: 1 }],
  // With what was paid on later days of the month: a charge from before midnight may be decided after one from after it.
  ['2026-03-01T00:00:00.000Z', { today: 10, month: 11_110, cardToday: 10, cardMonth: 1_110 }],
  ['2026-03-02T00:00:00.000Z', { today: 0, month: 11_110, cardToday: 0, cardMonth: 1_110 }],
  ['2026-03-31T23:59:59.999Z', { today: 11_000, month: 11_110, cardToday: 1_000, cardMonth: 1_110 }],
  ['2026-04-01T00:00:00.000Z', { today: 100_000, month: 100_000, cardToday: 100_000, cardMonth: 100_000 }],
])('at %s the day and the month have what was paid in them', async (at, expected) => {
  const [counted] = await world.sql(
    `select spent_today_cents::int as today, spent_this_month_cents::int as month,
       card_spent_today_cents::int as "cardToday", card_spent_this_month_cents::int as "cardMonth"
     from spending_counters($1, $2, $3, true)`,
    [payer.agentId, payer.cardId, at],
  );
  expect(counted).toEqual(expected);
});
