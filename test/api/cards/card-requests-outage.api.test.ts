/** Goal: without Temporal a card request is made, denied and withdrawn, and not approved. Method: real HTTP, no Temporal. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cardRequestsArea } from '../../../src/domains/cards/card-requests/card-request.contract.ts';
import { anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { refusalOf } from '../../support/refusals.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ env: { TEMPORAL_ADDRESS: '127.0.0.1:9' } });
});
afterAll(() => world.close());

test('creation, denial and withdrawal succeed; approval answers 503 and leaves the request pending', async () => {
  const owner = await world.owner();
  const agent = await anAgentWithCard(world, owner);
  const api = owner.client(cardRequestsArea);
  const body = { type: 'limit_change', agentId: agent.agentId, cardId: agent.cardId, dailyLimitEuros: 5 } as const;
  const made = async () => ({ params: { id: (await api.createCardRequest({ body })).id as never } });
  expect((await api.denyCardRequest({ ...(await made()), body: { reason: 'no' } })).status).toBe('denied');
  const withdrawn = await made();
  for (let repeat = 0; repeat < 2; repeat++) {
    expect((await api.cancelCardRequest({ ...withdrawn, body: {} })).status).toBe('cancelled');
  }
  const open = await made();
  expect((await refusalOf(api.approveCardRequest({ ...open, body: {} })))[0]).toBe(503);
  expect((await api.getCardRequest(open)).status).toBe('pending');
});
