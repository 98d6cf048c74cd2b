/** What is different in live mode for owners: prefixes of keys and tokens, the first plan, and who may change it. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { keysArea } from '../../../src/domains/identity/keys/key.contract.ts';
import { customersArea } from '../../../src/domains/parties/customers/customer.contract.ts';
import { statusOf } from '../../support/refusals.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ env: { BURSAR_MODE: 'live', BURSAR_ALLOW_SIMULATED: 'true' } });
});
afterAll(() => world.close());

// spec: token-prefix:live or plain in live mode
test('keys are live ones, and a sandbox key is unknown', async () => {
  const owner = await world.owner();
  expect(owner.key).toMatch(/^sk_live_[0-9A-Za-z]{32}$/);
  const sandboxKey = owner.key.replace('sk_live_', 'sk_sandbox_');
  expect(await statusOf(world.as(sandboxKey).client(keysArea).listKeys())).toBe(401);
});

test('a customer begins with the free plan, which only the dashboard changes by hand', async () => {
  const owner = await world.owner();
  const { id, plan } = await owner.client(customersArea).getOwnCustomer();
  expect(plan).toBe('free');
  const change = { params: { id }, body: { plan: 'business', email: 'x@example.org' } } as const;
  await expect(owner.client(customersArea).updateCustomer(change)).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining('billing'),
  });
  expect(await owner.client(customersArea).getOwnCustomer()).toMatchObject({ plan: 'free', email: null });
  const dashboard = createClient(customersArea, (request) =>
    sendTo(world.apiUrl)({
      ...request,
      headers: { ...request.headers, 'X-Dashboard-Secret': world.dashboardSecret, 'X-Owner-Id': owner.ownerId },
    }),
  );
  expect(await dashboard.updateCustomer(change)).toMatchObject({ plan: 'business' });
});
