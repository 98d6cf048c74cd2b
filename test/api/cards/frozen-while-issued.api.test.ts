/**
 * Goal: a card whose agent is frozen while the processor issues it appears frozen, whichever call asked for it. Method:
 * the real worker; a processor that freezes the agent before it answers.
 * @module
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import * as z from 'zod';
import { cardRequestsArea } from '../../../src/domains/cards/card-requests/card-request.contract.ts';
import { cardsArea } from '../../../src/domains/cards/cards/card.contract.ts';
import { approvalsArea } from '../../../src/domains/identity/approvals/approval.contract.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { eventNamesOf } from '../../support/events.ts';
import { type AgentWithCard, anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { aPasskey } from '../../support/factories/passkeys.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

const order = z.object({ cardId: z.string() });
const processor = createServer(async (request, response) => {
  const body = await json(request);
  const reply = (status: number, answer: object) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
  const [, , , cardRef, state] = request.url?.split('/') ?? [];
  if (state !== undefined) return reply(200, { cardRef, ...z.object({ state: z.string() }).parse(body) });
  await owner.client(agentsArea).freezeAgent({ params: { id: agent.agentId } });
  const ref = `pc_${order.parse(body).cardId}`;
  return reply(201, { cardRef: ref, last4: '0005', brand: 'visa', expiryMonth: 2, expiryYear: 2030 });
});

let world: World;
let owner: Owner;
let agent: AgentWithCard;

beforeAll(async () => {
  await new Promise<void>((resolve) => processor.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(processor.address() as AddressInfo).port}`;
  world = await startWorld({ worker: true, env: { BURSAR_SANDBOX_URL: url }, allowedOrigins: [url] });
});
afterAll(async () => {
  await world.close();
  processor.close();
});
beforeEach(async () => {
  owner = await world.owner();
  agent = await anAgentWithCard(world, owner);
});

const requests = () => owner.client(cardRequestsArea);

/** The agent asks for a card; `approve` answers once it is issued. */
async function requested(approve: (id: string) => Promise<unknown>): Promise<string> {
  const body = { type: 'new_card', agentId: agent.agentId, usage: 'multi', purpose: 'cloud hosting' } as const;
  const { id } = await requests().createCardRequest({ body });
  await approve(id);
  return (await requests().getCardRequest({ params: { id } })).cardId ?? '';
}

async function approveByLink(id: string): Promise<void> {
  const passkey = await aPasskey(world, owner);
  const { approvalUrl } = await requests().getCardRequest({ params: { id } });
  const params = { token: approvalUrl?.split('/').at(-1) ?? '' };
  const approver = world.as('').client(approvalsArea);
  const challenge = await approver.createApprovalChallenge({ params, body: {} });
  await approver.approveByLink({ params, body: { webauthnAssertion: passkey.answer(challenge) } });
}

const issue = async (): Promise<string> => {
  const body = { usage: 'multi', purpose: 'cloud hosting' } as const;
  return (await owner.client(cardsArea).issueAgentCard({ params: { agentId: agent.agentId }, body })).id;
};

test.each([
  ['a card that the owner issues', issue],
  ['an approval with a key', () => requested((id) => requests().approveCardRequest({ params: { id }, body: {} }))],
  ['an approval under the link', () => requested(approveByLink)],
])('%s', async (_call, ask) => {
  const cardId = await ask();
  const shown = await owner.client(cardsArea).getCard({ params: { cardId } });
  expect(shown).toMatchObject({ status: 'frozen', frozenBy: 'agent' });
  expect(await eventNamesOf(world, cardId)).toEqual(['card.issued', 'card.frozen']);
});
