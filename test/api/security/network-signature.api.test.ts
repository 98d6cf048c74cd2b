/** A network message counts only at the endpoint that it was signed for, request target as sent. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aPayer, balancesOf, journalsOf, networkOf, signed } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

/** A POST to `to` with a signature made for `signedFor`. */
async function post(message: object, { signedFor, to }: { signedFor: string; to: string }) {
  const rawBody = JSON.stringify(message);
  const headers = {
    'Content-Type': 'application/json',
    'X-Network-Signature': signed(world.networkKey, { path: signedFor, rawBody }),
  };
  const answer = await fetch(`${world.apiUrl}${to}`, { method: 'POST', headers, body: rawBody });
  return answer.status;
}

test('a signed clearing that is posted to /network/reversals is 401 and moves nothing', async () => {
  const network = networkOf(world);
  const payer = await aPayer(world, { fundsCents: 5_000 });
  const authorization = network.authorizationOf(payer);
  expect((await network.send('authorizations', authorization)).status).toBe(200);
  const clearing = {
    id: 'clr_replayed',
    authorizationId: authorization.id,
    cardRef: payer.cardRef,
    amountCents: 1_250,
  };
  const before = [await balancesOf(world, payer), await journalsOf(world, payer.owner.ownerId)];

  for (const to of ['/network/reversals', '/v1/network/reversals', '/network/authorizations']) {
    expect([to, await post(clearing, { signedFor: '/network/clearings', to })]).toEqual([to, 401]);
  }
  expect([await balancesOf(world, payer), await journalsOf(world, payer.owner.ownerId)]).toEqual(before);
  expect(await world.sql('select 1 from network_messages where id = $1', ['clr_replayed'])).toEqual([]);
});

test.each([
  ['/network/reversals', '/network/reversals', 200],
  ['/v1/network/reversals', '/v1/network/reversals', 200],
  ['/network/reversals', '/v1/network/reversals', 401],
  ['/v1/network/reversals', '/network/reversals', 401],
  ['/network/reversals', '/network/reversals/', 401],
  ['/network/reversals', '/network/reversals?try=2', 401],
  ['/network/reversals?try=2', '/network/reversals?try=3', 401],
])('signed for %s and sent to %s is %i', async (signedFor, to, status) => {
  const payer = await aPayer(world);
  const message = { id: `rev_${payer.agentId}`, authorizationId: `auth_${payer.agentId}`, cardRef: payer.cardRef };
  expect(await post(message, { signedFor, to })).toBe(status);
});
