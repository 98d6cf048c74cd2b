/**
 * Goal: what is made through a workflow or a ceremony keeps its limit too, when forty are asked for at once. Method: real
 * HTTP with worker and sandbox; as `limits.api.test.ts` for agents, cards, passkeys, checkouts and simulated charges.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { passkeysArea } from '../../../src/domains/identity/passkeys/passkey.contract.ts';
import { type LimitName, limits } from '../../../src/platform/limits.ts';
import { softPasskey } from '../../support/authenticator.ts';
import { aPasskey } from '../../support/factories/passkeys.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: true, env: { BURSAR_POOL_SIZE: '20' } });
});
afterAll(() => world.close());

const limitTo = ({ ownerId }: Owner, name: LimitName, most: number) =>
  world.sql(
    `insert into owner_limits values ($1, $2, $3, now())
     on conflict (owner_id, name) do update set most = excluded.most`,
    [ownerId, name, most],
  );
async function someone() {
  const owner = await world.owner();
  const api = clientsOf(owner);
  await api.fund.fundWallet({ body: { amountEuros: 500 } });
  const agent = await api.agents.createAgent({ body: { name: 'buyer' } });
  await api.policies.updateAgentPolicy({
    params: { agentId: agent.id },
    body: { dailyLimitEuros: 10_000, monthlyLimitEuros: 10_000 },
  });
  await world.sql(`update customers set plan = 'enterprise' where owner_id = $1`, [owner.ownerId]);
  return { owner, api, agentId: agent.id, cardId: agent.cardId };
}
type Answer = { status: number; error: string };
const post = async ({ key }: Owner, path: string, body: object): Promise<Answer> => {
  const answer = await fetch(`${world.apiUrl}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { error = '' } = (await answer.json()) as { error?: string };
  return { status: answer.status, error };
};
const fortyOf = (make: (n: number) => Promise<Answer>) => Promise.all(Array.from({ length: 40 }, (_, n) => make(n)));
const countOf = async (name: LimitName, ownerId: string, subject: string): Promise<number> => {
  const [found] = await world.sql<{ count: number }>(
    `select count(*)::int as count from (values ($1::text, $2::text, now())) as given(owner, subject, at), ${limits[name].rows.replace(' r where', ' r where true and')}`,
    [ownerId, subject],
  );
  return found?.count ?? 0;
};

test.each<[LimitName, (one: Awaited<ReturnType<typeof someone>>, n: number) => Promise<Answer>]>([
  ['agents', ({ owner }, n) => post(owner, '/agents', { name: `agent ${n}` })],
  ['cards', ({ owner, agentId }) => post(owner, `/cards/agent/${agentId}`, { usage: 'multi', purpose: 'books' })],
  ['simulations', ({ owner, cardId }) => post(owner, '/transactions/simulate', { cardId, amountEuros: 1 })],
])('of 40 %s asked for at once no more than six exist', async (name, make) => {
  const one = await someone();
  await limitTo(one.owner, name, 6);
  const answers = await fortyOf((n) => make(one, n));
  expect([name, await countOf(name, one.owner.ownerId, one.agentId)]).toEqual([name, 6]);
  const refused = answers.filter(({ status }) => status === 400);
  expect(refused.length).toBeGreaterThan(0);
  for (const { error } of refused) expect(error).toContain(`you have 6 ${limits[name].counted}, and 6 is the limit`);
  const statuses = new Set(answers.map(({ status }) => status));
  expect([name, [...statuses].filter((status) => ![200, 201, 400, 503].includes(status))]).toEqual([name, []]);
});

test('of 40 passkeys enrolled at once no more than the limit are enrolled', async () => {
  const { owner } = await someone();
  await limitTo(owner, 'challenges', 1_000);
  await limitTo(owner, 'passkeys', 6);
  const first = await aPasskey(world, owner);
  const passkeys = owner.client(passkeysArea);
  const bodies: object[] = [];
  for (let n = 0; n < 40; n++) {
    const { challengeId, options } = await passkeys.startPasskeyRegistration({ body: {} });
    const vouch = await passkeys.createPasskeyChallenge({ body: { purpose: 'enroll', subjectId: challengeId } });
    const attestation = softPasskey(world.config.publicUrl).create(options);
    // As an authenticator without a counter: forty answers of one passkey arrive in any order.
    bodies.push({ challengeId, attestation, webauthnAssertion: first.answer(vouch, { counter: 0 }) });
  }
  const answers = await fortyOf((n) => post(owner, '/passkeys/register/verify', bodies[n] ?? {}));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
  expect(await countOf('passkeys', owner.ownerId, owner.ownerId)).toBe(6);
  for (const { error } of answers.filter(({ status }) => status !== 201)) {
    expect(error).toContain('you have 6 enrolled passkeys, and 6 is the limit');
  }
});

test('of 40 checkouts of one intent at once one pays, and no more than the limit exist', async () => {
  const { owner, api, agentId } = await someone();
  const body = { agentId, purpose: 'a book', expectedAmountEuros: 20, expectedMerchant: 'Sandbox Shop' };
  const intent = await api.intents.declareIntent({ body });
  await limitTo(owner, 'checkouts', 6);
  const targetUrl = `${world.sandboxUrl}/shops/sandbox-shop?amountCents=2000`;
  const answers = await fortyOf(() => post(owner, '/checkout/execute', { intentId: intent.id, targetUrl }));
  expect(answers.filter(({ status }) => status === 500)).toEqual([]);
  expect(await countOf('checkouts', owner.ownerId, intent.id)).toBeLessThanOrEqual(6);
  const paid = await world.sql(`select 1 from transactions where owner_id = $1 and status <> 'declined'`, [
    owner.ownerId,
  ]);
  expect(paid).toHaveLength(1);
});
