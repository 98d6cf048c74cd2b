/**
 * Goal: what `simulate` says is what happens. Method: over arbitrary rules and one purchase after the other, the same
 * payment is simulated and then made: charged by the network, or declared as an intent.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { intentsArea } from '../../../../src/domains/spending/intents/intent.contract.ts';
import { policiesArea } from '../../../../src/domains/spending/policies/policy.contract.ts';
import { aPayer, networkOf, sandboxShop } from '../../../support/payments-world.ts';
import { startWorld, type World } from '../../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
});

const names = ['Sandbox Shop', 'example.com', 'shop.example.com', 'Café Müller'];
const shops = [...names, 'Sandbox Casino'];
const mccs = ['5734', '5942', '7995'];
const countries = ['DE', 'FR'];
const euros = fc.constantFrom(1, 2.5, 5, 10, 12.5);
const some = (of: readonly string[]) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<string[]>([]) },
    { weight: 2, arbitrary: fc.subarray([...of], { minLength: 1 }) },
  );
const limit = fc.option(euros, { freq: 1 });
const terms = fc.record({
  maxTransactionEuros: limit,
  dailyLimitEuros: fc.option(fc.constantFrom(5, 12.5, 20)),
  monthlyLimitEuros: fc.option(fc.constantFrom(12.5, 20, 25)),
  autoApproveLimitEuros: fc.option(fc.constantFrom(0, 5, 10)),
  merchantAllowlist: some(names),
  merchantBlocklist: some(['sandbox casino', 'EXAMPLE.com', 'cafe muller']),
  mccCategories: some(['gambling', 'utilities']),
  allowedMccs: some(mccs),
  blockedMccs: some(['7995']),
  allowedCountries: some(countries),
  lockToFirstMerchant: fc.boolean(),
  cooldownMinutes: fc.option(fc.constantFrom(0, 60), { freq: 1 }),
  activeHoursStart: fc.option(fc.nat(23), { freq: 1 }),
  activeHoursEnd: fc.option(fc.nat(23), { freq: 1 }),
  maxUsageCount: fc.option(fc.constantFrom(1, 3)),
  expiresAfterMinutes: fc.option(fc.constantFrom(1, 60)),
});
const payment = fc.record({
  amount: euros,
  merchant: fc.constantFrom(...shops),
  mcc: fc.constantFrom(...mccs),
  country: fc.constantFrom(...countries),
});
const life = fc.array(payment, { minLength: 2, maxLength: 4 });

/** The one figure that passes with time. */
const timeless = (reason: string | null) => reason?.replace(/, .* (are|is) left$/, '') ?? null;

test('a charge is decided as it was simulated: same rule, same sentence', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(terms, life, async (rules, payments) => {
      const payer = await aPayer(world, { fundsCents: 1_000_000 });
      const policies = payer.owner.client(policiesArea);
      await policies.updateAgentPolicy({ params: { agentId: payer.agentId }, body: rules });
      for (const { amount, merchant: name, ...where } of payments) {
        const simulated = await policies.simulatePolicy({
          body: { agentId: payer.agentId, amount, merchant: name, ...where },
        });
        // An id that says nothing more than the name does.
        const merchant = { ...sandboxShop, id: `m_${shops.indexOf(name)}`, name, ...where };
        const { body } = await networkOf(world).authorize(payer, { amountCents: Math.round(amount * 100), merchant });
        seen.add(body.rule);
        const { allowed, requiresApproval, rule } = simulated;
        expect([rule, allowed && !requiresApproval]).toEqual([body.rule, body.decision === 'approved']);
        expect(timeless(simulated.reason)).toBe(timeless(body.decision === 'approved' ? null : body.reason));
      }
    }),
    { numRuns: 60 },
  );
  expect(seen.size).toBeGreaterThan(8); // The lives reach many rules, not one.
});

test('an intent is declared as it was simulated', async () => {
  await fc.assert(
    fc.asyncProperty(terms, life, async (rules, payments) => {
      const payer = await aPayer(world, { fundsCents: 1_000_000 });
      const policies = payer.owner.client(policiesArea);
      await policies.updateAgentPolicy({ params: { agentId: payer.agentId }, body: rules });
      for (const { amount, merchant } of payments) {
        const { agentId } = payer;
        const simulated = await policies.simulatePolicy({ body: { agentId, amount, merchant } });
        const intent = await payer.owner
          .client(intentsArea)
          .declareIntent({ body: { agentId, purpose: 'x', expectedAmountEuros: amount, expectedMerchant: merchant } });
        const { allowed, requiresApproval, reason } = simulated;
        expect(intent.policyCheck).toEqual({ allowed, requiresApproval, reason });
        expect(intent.status).toBe(!allowed ? 'denied' : requiresApproval ? 'pending_approval' : 'approved');
      }
    }),
    { numRuns: 30 },
  );
});

test('it changes no row of any table', async () => {
  const payer = await aPayer(world);
  const counts = async () => {
    const tables = await world.sql<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    const text = tables
      .map(({ name }) => `select '${name}' as name, count(*)::int as rows from ${name}`)
      .join(' union all ');
    const leftOut = ['heartbeats']; // Beat by themselves.
    return (await world.sql<{ name: string; rows: number }>(text)).filter(({ name }) => !leftOut.includes(name));
  };
  const before = await counts();
  for (const amount of [0, 5, 1e6]) {
    await payer.owner.client(policiesArea).simulatePolicy({ body: { agentId: payer.agentId, amount } });
    await world
      .as(payer.token)
      .client(policiesArea)
      .simulatePolicy({ body: { agentId: payer.agentId, amount } });
  }
  expect(await counts()).toEqual(before);
});
