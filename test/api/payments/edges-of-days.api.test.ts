/**
 * Limits at their edges, decided and written for chosen instants: an equal amount is allowed and one cent more is not, up
 * to 23:59:59.999 UTC and again from 00:00, at the end of February in a leap year and in another. The real use case and
 * rows, in a batch and alone.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import { authorizationMessage } from '../../../src/domains/payments/network/network.contract.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { authorizeCard } from '../../../src/usecases/payments/authorize-card.ts';
import { aPayer, networkOf, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let orm: Orm;
beforeAll(async () => {
  world = await startWorld();
  orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 4, applicationName: 'edges' });
});
afterAll(async () => {
  await orm.close();
  await world.close();
});

/** What names a simulation is decided alone, in another function of the database. */
const ways = { 'in a batch': {}, alone: { simulation: 'sim_none' } } as const;
type Way = keyof typeof ways;

async function asked(way: Way, payer: Payer, at: string, amountCents: number): Promise<string> {
  const authorize = authorizeCard({
    database: databaseOf(orm),
    mostWaitMs: 60_000,
    log: { error: () => undefined },
    requestApproval: async () => undefined,
    risk: { assess: async () => ({ outcome: 'allow', signals: [] }) },
  });
  const message = authorizationMessage.parse(networkOf(world).authorizationOf(payer, { amountCents, ...ways[way] }));
  const cause = {
    ...{ causeId: `network:sandbox:authorization:${message.id}`, requestId: randomUUID() },
    ...{ actor: { kind: 'network' } as const, at: new Date(at) },
  };
  const { decision, rule } = await authorize({ adapter: 'sandbox', message, requestHash: message.id, cause });
  return `${decision} ${rule}`;
}

const ok = 'approved within_rules';

describe.each(['in a batch', 'alone'] as const)('decided %s', (way) => {
  test.each([
    ['a leap year', '2028-02-28', '2028-02-29', '2028-03-01'],
    ['another year', '2027-02-27', '2027-02-28', '2027-03-01'],
    ['the end of a year', '2028-12-30', '2028-12-31', '2029-01-01'],
  ])('a day ends with its last millisecond: %s', async (_what, first, last, next) => {
    const payer = await aPayer(world, { policy: { daily_limit_cents: 1_000 } });
    for (const day of [first, last, next]) {
      expect([day, await asked(way, payer, `${day}T00:00:00.000Z`, 999)]).toEqual([day, ok]);
      expect([day, await asked(way, payer, `${day}T23:59:59.999Z`, 2)]).toEqual([day, 'declined daily_limit']);
      expect([day, await asked(way, payer, `${day}T23:59:59.999Z`, 1)]).toEqual([day, ok]);
      expect([day, await asked(way, payer, `${day}T23:59:59.999Z`, 1)]).toEqual([day, 'declined daily_limit']);
    }
    const days = await world.sql<{ day: string; cents: number }>(
      'select day::text, spent_cents::int as cents from spending_days where agent_id = $1 order by day',
      [payer.agentId],
    );
    expect(days).toEqual([first, last, next].map((day) => ({ day, cents: 1_000 })));
  });

  test.each([
    ['a leap year', '2028-02-01', '2028-02-29', '2028-03-01'],
    ['another year', '2027-02-01', '2027-02-28', '2027-03-01'],
    ['the end of a year', '2028-12-01', '2028-12-31', '2029-01-01'],
  ])('a month ends with its last millisecond: %s', async (_what, first, last, next) => {
    const payer = await aPayer(world, { policy: { monthly_limit_cents: 2_500 } });
    expect(await asked(way, payer, `${first}T00:00:00.000Z`, 1_000)).toBe(ok);
    expect(await asked(way, payer, `${last}T23:59:59.999Z`, 1_501)).toBe('declined monthly_limit');
    expect(await asked(way, payer, `${last}T23:59:59.999Z`, 1_500)).toBe(ok);
    expect(await asked(way, payer, `${last}T23:59:59.999Z`, 1)).toBe('declined monthly_limit');
    expect(await asked(way, payer, `${next}T00:00:00.000Z`, 2_501)).toBe('declined monthly_limit');
    expect(await asked(way, payer, `${next}T00:00:00.000Z`, 2_500)).toBe(ok);
  });

  test('a charge from before midnight that is decided after one from after it counts that one in its month', async () => {
    const payer = await aPayer(world, { policy: { monthly_limit_cents: 2_500, daily_limit_cents: 1_500 } });
    expect(await asked(way, payer, '2027-02-11T00:00:00.000Z', 1_500)).toBe(ok);
    expect(await asked(way, payer, '2027-02-10T23:59:59.999Z', 1_001)).toBe('declined monthly_limit');
    expect(await asked(way, payer, '2027-02-10T23:59:59.999Z', 1_000)).toBe(ok);
    expect(await asked(way, payer, '2027-01-31T23:59:59.999Z', 1_500)).toBe(ok);
  });

  test.each<[string, Parameters<typeof aPayer>[1], string]>([
    ['the policy’s limit of a payment', { policy: { max_transaction_cents: 1_000 } }, 'max_transaction'],
    ['the card’s limit of a payment', { card: { max_transaction_cents: 1_000 } }, 'card_max_transaction'],
    ['the card’s limit of a day', { card: { daily_limit_cents: 1_000 } }, 'card_daily_limit'],
    ['the card’s limit of a month', { card: { monthly_limit_cents: 1_000 } }, 'card_monthly_limit'],
    ['the money', { fundsCents: 1_000 }, 'insufficient_funds'],
  ])('%s: one cent more is declined, an equal amount is not', async (_what, options, rule) => {
    const payer = await aPayer(world, options);
    expect(await asked(way, payer, '2027-01-01T12:00:00.000Z', 1_001)).toBe(`declined ${rule}`);
    expect(await asked(way, payer, '2027-01-01T12:00:00.000Z', 1_000)).toBe(ok);
  });
});
