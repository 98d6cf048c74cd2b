/**
 * Goal: nothing of the sandbox is there in live. Method: a live deployment with the simulators allowed, over real HTTP
 * and the real Temporal server.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { canonicalPath } from '../../../src/http/openapi.ts';
import { type Operation, pathsOf } from '../../../src/http/route.ts';
import { publishedAreas } from '../../../src/main/modules/index.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { networkOf, sandboxShop } from '../../support/payments-world.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let temporal: OpenTemporal;
let owner: Owner;
let agentId: string;
beforeAll(async () => {
  world = await startWorld({ worker: true, env: { BURSAR_MODE: 'live', BURSAR_ALLOW_SIMULATED: 'true' } });
  temporal = await openTemporal();
  owner = await world.owner();
  agentId = (await clientsOf(owner).agents.createAgent({ body: { name: 'buyer' } })).id;
});
afterAll(async () => {
  await temporal.close();
  await world.close();
});

const sandboxOnly = publishedAreas.flatMap((area) =>
  Object.values(area.operations)
    .filter((operation: Operation) => operation.sandboxOnly === true)
    .map((operation: Operation) => ({ area, operation })),
);

test('every sandbox path is 404, also with the dashboard’s secret, and the document contains none', async () => {
  expect(sandboxOnly.length).toBeGreaterThanOrEqual(2);
  const headers = { 'X-Dashboard-Secret': world.dashboardSecret, Authorization: `Bearer ${owner.key}` };
  for (const { area, operation } of sandboxOnly) {
    for (const path of pathsOf(area, operation)) {
      const answer = await fetch(`${world.apiUrl}${path}`, { method: operation.method.toUpperCase(), headers });
      expect([path, answer.status]).toEqual([path, 404]);
    }
  }
  const text = await (await fetch(`${world.apiUrl}/openapi.json`)).text();
  const { paths } = JSON.parse(text) as { paths: Record<string, unknown> };
  for (const { area, operation } of sandboxOnly) expect(paths).not.toHaveProperty([canonicalPath(area, operation)]);
  expect(Object.keys(paths).filter((path) => path.includes('/sandbox'))).toEqual([]);
  expect(Object.keys(paths).length).toBeGreaterThan(40);
});

test('health reports live mode', async () => {
  expect(await (await fetch(`${world.apiUrl}/`)).json()).toMatchObject({ environment: 'live' });
});

// spec: token-prefix:live or plain in live mode
test('credentials of the sandbox are 401, whatever they would open; a live token opens', async () => {
  const live = (await clientsOf(owner).tokens.createAgentToken({ params: { id: agentId }, body: {} })).token;
  expect(live).toMatch(/^at_live_/);
  const status = async (bearer: string) =>
    (await fetch(`${world.apiUrl}/intents`, { headers: { Authorization: `Bearer ${bearer}` } })).status;
  expect(await status(live)).toBe(200);
  const foreign = [
    live.replace('at_live_', 'at_test_'),
    ...['sk_sandbox_', 'sk_test_'].map((p) => owner.key.replace('sk_live_', p)),
  ];
  for (const bearer of foreign) expect([bearer.slice(0, 11), await status(bearer)]).toEqual([bearer.slice(0, 11), 401]);
});

test('messages signed with the sandbox network’s key are refused', async () => {
  const [card] = await world.sql<{ card_ref: string }>('select card_ref from cards where agent_id = $1', [agentId]);
  const message = {
    id: 'auth_live',
    cardRef: card?.card_ref,
    amountCents: 100,
    currency: 'EUR',
    merchant: sandboxShop,
  };
  const answer = await networkOf(world).send('authorizations', message);
  expect(answer).toMatchObject({ status: 401, body: { error: expect.any(String) } });
  expect(await world.sql('select 1 from transactions')).toEqual([]);
});

describe('an approval by signal', () => {
  const declared = async () => {
    const intent = await owner.client(intentsArea).declareIntent({
      body: { agentId, purpose: 'dear', expectedAmountEuros: 80, expectedMerchant: 'Sandbox Shop' },
    });
    await temporal.started(`intent/${intent.id}`);
    return intent;
  };

  test('is refused with a note in the run’s details; the API approves', async () => {
    const intent = await declared();
    expect(intent.status).toBe('pending_approval');
    await temporal.signal(`intent/${intent.id}`, 'decide', { decision: 'approve', by: 'anna' });
    const { details } = await eventually(
      () => temporal.viewOf(`intent/${intent.id}`),
      (view) => view.details.includes('refused'),
    );
    expect(details).toMatch(
      /^- approve by anna was refused: this deployment takes no approvals by signal .*use the API$/m,
    );
    const intents = createClient(intentsArea, sendTo(world.apiUrl, owner.key));
    expect(await intents.getIntent({ params: { id: intent.id } })).toMatchObject({ status: 'pending_approval' });
    expect(await intents.approveIntent({ params: { id: intent.id } })).toMatchObject({ status: 'approved' });
  });

  test('a denial by signal is a revoking command and works', async () => {
    const intent = await declared();
    await temporal.signal(`intent/${intent.id}`, 'decide', { decision: 'deny', by: 'anna' });
    await eventually(
      () => owner.client(intentsArea).getIntent({ params: { id: intent.id } }),
      ({ status }) => status === 'denied',
    );
  });
});
