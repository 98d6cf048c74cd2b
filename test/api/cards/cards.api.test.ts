/**
 * The card operations over real HTTP and PostgreSQL, with Temporal out of reach throughout: reads and every revoking command
 * have to work without it.
 * @module
 */
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { cardsArea } from '../../../src/domains/cards/cards/card.contract.ts';
import { closeCardsOf, freezeCardsOf, unfreezeCardsOf } from '../../../src/domains/cards/cards/card.service.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { newId, uuidv7 } from '../../../src/kernel/ids.ts';
import { type Infrastructure, openInfrastructure } from '../../../src/main/infrastructure.ts';
import { entities, workflows } from '../../../src/main/modules/index.ts';
import type { Cause } from '../../../src/platform/cause.ts';
import { eventNamesOf, eventsOf } from '../../support/events.ts';
import { type AgentWithCard, anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { refusal } from '../../support/refusals.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let infrastructure: Infrastructure;
let owner: Owner;
let agent: AgentWithCard;
beforeAll(async () => {
  world = await startWorld({ env: { TEMPORAL_ADDRESS: '127.0.0.1:9' } });
  infrastructure = await openInfrastructure(world.config, { name: 'cards-test', entities, workflows });
});
afterAll(async () => {
  await infrastructure.close();
  await world.close();
});
beforeEach(async () => {
  owner = await world.owner();
  agent = await anAgentWithCard(world, owner);
});

const cards = () => owner.client(cardsArea);
const asAgent = () => world.as(agent.token).client(cardsArea);
const one = () => ({ params: { cardId: agent.cardId } });
const ofAgent = () => ({ params: { agentId: agent.agentId } });
const causeOf = (causeId: string = uuidv7()): Cause => ({
  causeId,
  requestId: uuidv7(),
  actor: { kind: 'system' },
  at: new Date(),
});
const setAgent = (status: string) => world.sql('update agents set status = $2 where id = $1', [agent.agentId, status]);

/** Another card of the same agent, straight into the table. */
async function aSecondCard({ isProvisioning = false, name = 'second' } = {}): Promise<`ca_${string}`> {
  const cardId = newId('card');
  await world.sql(
    `insert into cards (id, owner_id, agent_id, card_ref, synced_state, last4, brand, expiry_month, expiry_year, status, usage,
       is_primary, name, is_provisioning, origin, created_at, updated_at)
     select $2, owner_id, agent_id, case when $3 then null else 'ref_' || $2 end, case when $3 then null else 'active' end,
       '1881', brand, 1, 2031, 'active', 'single', false, $4, $3, origin, created_at + interval '1 second', updated_at
     from cards where id = $1`,
    [agent.cardId, cardId, isProvisioning, name],
  );
  return cardId;
}

describe('reading', () => {
  test('a record contains the agent’s name and balance, and never a card number', async () => {
    expect(await cards().getCard(one())).toEqual({
      id: agent.cardId,
      ownerId: owner.ownerId,
      agentId: agent.agentId,
      agentName: expect.stringMatching(/^Agent \d+$/),
      name: 'default',
      displayName: null,
      purpose: null,
      scope: null,
      last4: '4242',
      brand: 'visa',
      expiryMonth: 12,
      expiryYear: 2029,
      status: 'active',
      frozenBy: null,
      usage: 'multi',
      isPrimary: true,
      spendLimitEuros: null,
      maxTransactionEuros: null,
      dailyLimitEuros: null,
      monthlyLimitEuros: null,
      walletBalanceEuros: 123.45,
      cardRef: agent.cardRef,
      createdAt: expect.stringMatching(/Z$/),
      closedAt: null,
    });
  });

  test('an agent reads its own cards; the list of all is the owner’s', async () => {
    const second = await aSecondCard();
    expect((await asAgent().listAgentCards(ofAgent())).map(({ id }) => id)).toEqual([agent.cardId, second]);
    expect(await asAgent().getCard({ params: { cardId: second } })).toMatchObject({
      usage: 'single',
      isPrimary: false,
    });
    await expect(asAgent().listCards()).rejects.toEqual(refusal(403));
  });

  test('pages show newest first, by agent and by state', async () => {
    const second = await aSecondCard();
    const sister = await anAgentWithCard(world, owner);
    await cards().freezeCard({ params: { cardId: second } });
    const ids = async (query: NonNullable<Parameters<ReturnType<typeof cards>['listCards']>[0]>['query']) =>
      (await cards().listCards({ ...(query && { query }) })).data.map(({ id }) => id);
    expect(await ids({ status: 'frozen' })).toEqual([second]);
    expect(await ids({ agentId: sister.agentId })).toEqual([sister.cardId]);
    const first = await cards().listCards({ query: { limit: 2 } });
    const rest = await cards().listCards({ query: { limit: 2, cursor: first.nextCursor ?? '' } });
    expect([...first.data, ...rest.data].map(({ id }) => id).sort()).toEqual(
      [agent.cardId, second, sister.cardId].sort(),
    );
    expect(rest).toMatchObject({ hasMore: false, nextCursor: null });
    const times = [...first.data, ...rest.data].map(({ createdAt }) => createdAt);
    expect(times).toEqual([...times].sort().reverse());
  });

  test('a card that is still being issued is nowhere', async () => {
    const unborn = await aSecondCard({ isProvisioning: true });
    for (const call of [cards().getCard, cards().freezeCard, cards().unfreezeCard, cards().closeCard]) {
      await expect(call({ params: { cardId: unborn } })).rejects.toEqual(refusal(404));
    }
    expect((await cards().listAgentCards(ofAgent())).map(({ id }) => id)).toEqual([agent.cardId]);
    expect((await cards().listCards()).data.map(({ id }) => id)).toEqual([agent.cardId]);
  });

  test.each(['?limit=0', '?limit=101', '?status=open', '?cursor=x', '?agentId=ca_aaaaaaaa', '?color=red'])(
    '%s is refused',
    async (query) => {
      expect((await owner.send({ method: 'GET', path: `/cards${query}`, headers: {} })).status).toBe(400);
    },
  );
});

describe('freeze, unfreeze, close', () => {
  // spec: does:Cards:freeze
  // spec: does:Cards:unfreeze
  // spec: does:Cards:close
  test('frozen and unfrozen before the processor was called: no call is due', async () => {
    const due = async () => {
      const [process] = await world.sql('select due_at from workflow_runs where id = $1', [`card/${agent.cardId}`]);
      return process?.due_at;
    };
    await cards().freezeCard(one());
    expect(await due()).toEqual(expect.any(Date));
    await cards().unfreezeCard(one());
    expect(await due()).toBeNull();
    const agents = owner.client(agentsArea);
    await agents.freezeAgent({ params: { id: agent.agentId } });
    expect(await due()).toEqual(expect.any(Date));
    await agents.unfreezeAgent({ params: { id: agent.agentId } });
    expect(await due()).toBeNull();
  });

  // spec: state:Card:frozen
  // spec: state:Card:unfrozen
  // spec: state:Card:closed
  // spec: event:card.frozen
  // spec: event:card.unfrozen
  // spec: event:card.closed
  test('each answers the new state, fires its event and wakes the process', async () => {
    expect(await cards().freezeCard(one())).toEqual({ cardId: agent.cardId, status: 'frozen', last4: '4242' });
    expect(await cards().getCard(one())).toMatchObject({ status: 'frozen', frozenBy: 'card' });
    expect(await cards().unfreezeCard(one())).toMatchObject({ status: 'active' });
    expect(await cards().closeCard(one())).toMatchObject({ status: 'closed' });
    expect(await cards().getCard(one())).toMatchObject({
      status: 'closed',
      frozenBy: null,
      closedAt: expect.any(String),
    });
    const events = await eventsOf(world, agent.cardId);
    expect(events.map(({ name }) => name)).toEqual(['card.frozen', 'card.unfrozen', 'card.closed']);
    expect(events[0]?.data).toMatchObject({ id: agent.cardId, agentId: agent.agentId, status: 'frozen' });
    expect(events[0]?.data).not.toHaveProperty('cardRef');
    const [process] = await world.sql('select wanted_wake, is_open, due_at from workflow_runs where id = $1', [
      `card/${agent.cardId}`,
    ]);
    expect(process).toMatchObject({ wanted_wake: true, is_open: true, due_at: expect.any(Date) });
    const [row] = await world.sql('select version, synced_state from cards where id = $1', [agent.cardId]);
    expect(row).toEqual({ version: 4, synced_state: 'active' });
    const causes = await world.sql(
      `select from_status, to_status from transitions where noun = 'card' and row_id = $1 order by at`,
      [agent.cardId],
    );
    expect(causes).toHaveLength(3);
  });

  test('a revoking command on a card that is there already is 200 without an event', async () => {
    await cards().freezeCard(one());
    expect(await cards().freezeCard(one())).toMatchObject({ status: 'frozen' });
    await cards().closeCard(one());
    expect(await cards().closeCard(one())).toMatchObject({ status: 'closed' });
    expect(await eventNamesOf(world, agent.cardId)).toEqual(['card.frozen', 'card.closed']);
  });

  test('wrong states are refused with a message', async () => {
    await expect(cards().unfreezeCard(one())).rejects.toEqual(refusal(400, /card that is active/));
    await cards().closeCard(one());
    await expect(cards().freezeCard(one())).rejects.toEqual(refusal(400, /closed is final/));
    await expect(cards().unfreezeCard(one())).rejects.toEqual(refusal(400, /closed is final/));
    expect(await eventNamesOf(world, agent.cardId)).toEqual(['card.closed']);
  });

  test('an agent that is not active keeps its cards frozen', async () => {
    await cards().freezeCard(one());
    await setAgent('frozen');
    await expect(cards().unfreezeCard(one())).rejects.toEqual(refusal(400, /agent that is frozen: unfreeze the agent/));
    await setAgent('closed');
    await expect(cards().unfreezeCard(one())).rejects.toEqual(refusal(400, /agent that is closed/));
    expect(await cards().closeCard(one())).toMatchObject({ status: 'closed' });
  });

  test('twenty revoking commands at once move the card once', async () => {
    await Promise.all(Array.from({ length: 20 }, () => cards().freezeCard(one())));
    expect(await eventNamesOf(world, agent.cardId)).toEqual(['card.frozen']);
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => cards().unfreezeCard(one())));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await eventNamesOf(world, agent.cardId)).toEqual(['card.frozen', 'card.unfrozen']);
  });

  test('the same Idempotency-Key answers the same, whatever happened since', async () => {
    await cards().freezeCard(one());
    const headers = { 'Idempotency-Key': 'thaw' };
    await cards().unfreezeCard({ ...one(), headers });
    await cards().freezeCard(one());
    expect(await cards().unfreezeCard({ ...one(), headers })).toMatchObject({ status: 'active' });
    expect(await cards().getCard(one())).toMatchObject({ status: 'frozen' });
  });

  test('a body is refused', async () => {
    const answer = await owner.send({
      method: 'POST',
      path: `/cards/${agent.cardId}/freeze`,
      headers: { 'Content-Type': 'application/json' },
      body: '{"reason":"x"}',
    });
    expect(answer.status).toBe(400);
  });
});

describe("the agent's primary card", () => {
  test('is moved by the name of the agent', async () => {
    const second = await aSecondCard();
    expect(await cards().freezePrimaryCard(ofAgent())).toEqual({
      cardId: agent.cardId,
      status: 'frozen',
      last4: '4242',
    });
    expect(await cards().unfreezePrimaryCard(ofAgent())).toMatchObject({ cardId: agent.cardId, status: 'active' });
    expect(await cards().closePrimaryCard(ofAgent())).toMatchObject({ cardId: agent.cardId, status: 'closed' });
    // A repeat after a lost answer must not take the next card.
    expect(await cards().closePrimaryCard(ofAgent())).toMatchObject({ cardId: agent.cardId, status: 'closed' });
    await expect(cards().freezePrimaryCard(ofAgent())).rejects.toEqual(refusal(400, /closed is final/));
    await expect(cards().unfreezePrimaryCard(ofAgent())).rejects.toEqual(refusal(400));
    expect(await cards().getCard({ params: { cardId: second } })).toMatchObject({ status: 'active' });
  });
});

describe('with the agent', () => {
  const write = (move: typeof freezeCardsOf, cause = causeOf()) =>
    infrastructure.database.write((tx) => move(tx, cause, agent.agentId));

  test('all active cards freeze and thaw, but one that its owner froze stays frozen', async () => {
    const second = await aSecondCard();
    await cards().freezeCard({ params: { cardId: second } });
    expect(await write(freezeCardsOf)).toEqual([agent.cardId]);
    expect(await cards().getCard(one())).toMatchObject({ status: 'frozen', frozenBy: 'agent' });
    await expect(cards().unfreezeCard(one())).rejects.toEqual(refusal(400, /unfreeze the agent/));
    expect(await write(unfreezeCardsOf)).toEqual([agent.cardId]);
    expect(await cards().getCard({ params: { cardId: second } })).toMatchObject({ status: 'frozen', frozenBy: 'card' });
    expect(await eventNamesOf(world, agent.cardId)).toEqual(['card.frozen', 'card.unfrozen']);
    expect(await eventNamesOf(world, second)).toEqual(['card.frozen']);
  });

  test("an owner's freeze of a card that is frozen already outlasts the agent's thaw", async () => {
    await write(freezeCardsOf);
    await world.sql('update workflow_runs set wanted_wake = false where agent_id = $1', [agent.agentId]);
    expect(await cards().freezeCard(one())).toMatchObject({ status: 'frozen' });
    expect(await world.sql('select wanted_wake from workflow_runs where id = $1', [`card/${agent.cardId}`])).toEqual([
      { wanted_wake: true }, // Its run says whose freeze it is.
    ]);
    expect(await write(unfreezeCardsOf)).toEqual([]);
    expect(await cards().getCard(one())).toMatchObject({ status: 'frozen', frozenBy: 'card' });
    expect(await cards().unfreezeCard(one())).toMatchObject({ status: 'active' });
  });

  test('all close, also one that is still being issued, which fires no event', async () => {
    const unborn = await aSecondCard({ isProvisioning: true });
    expect([...(await write(closeCardsOf))].sort()).toEqual([agent.cardId, unborn].sort());
    expect(await eventNamesOf(world, agent.cardId)).toEqual(['card.closed']);
    expect(await eventNamesOf(world, unborn)).toEqual([]);
    expect(await world.sql('select status from cards where id = $1', [unborn])).toEqual([{ status: 'closed' }]);
    expect(await write(closeCardsOf)).toEqual([]);
  });

  test('many take as many statements as one, and each process is woken', async () => {
    const statements = async (move: typeof freezeCardsOf) =>
      infrastructure.database.write(async (tx) => {
        const sent = jest.spyOn(tx.getTransactionContext<{ executeQuery: () => unknown }>()!, 'executeQuery');
        const moved = await move(tx, causeOf(), agent.agentId);
        return { moved: moved.length, statements: sent.mock.calls.length };
      });
    const one = await statements(freezeCardsOf);
    expect(one.moved).toBe(1);
    await write(unfreezeCardsOf);
    for (let i = 0; i < 9; i++) await aSecondCard({ name: `further ${i}` });
    await world.sql(
      `insert into workflow_runs (id, workflow, subject_id, owner_id, agent_id, stage, created_at)
       select 'card/' || id, 'cardLifecycle', id, owner_id, agent_id, status, created_at from cards where agent_id = $1
       on conflict (id) do update set wanted_wake = false, due_at = null`,
      [agent.agentId],
    );
    expect(await statements(freezeCardsOf)).toEqual({ moved: 10, statements: one.statements });
    expect(
      await world.sql('select 1 from workflow_runs where agent_id = $1 and wanted_wake and due_at is not null', [
        agent.agentId,
      ]),
    ).toHaveLength(10);
  });

  test('the same cause moves each card once', async () => {
    const cause = causeOf('freeze of one request');
    await write(freezeCardsOf, cause);
    await setAgent('active');
    await write(unfreezeCardsOf);
    expect(await write(freezeCardsOf, cause)).toEqual([]);
    expect(await cards().getCard(one())).toMatchObject({ status: 'active' });
  });
});

describe('access', () => {
  test('another owner gets 404', async () => {
    const stranger = (await world.owner()).client(cardsArea);
    for (const call of [stranger.getCard, stranger.freezeCard, stranger.unfreezeCard, stranger.closeCard]) {
      await expect(call(one())).rejects.toEqual(refusal(404));
    }
    for (const call of [
      stranger.listAgentCards,
      stranger.freezePrimaryCard,
      stranger.unfreezePrimaryCard,
      stranger.closePrimaryCard,
    ]) {
      await expect(call(ofAgent())).rejects.toEqual(refusal(404));
    }
    const wish = { ...ofAgent(), body: { usage: 'multi', purpose: 'x' } } as const;
    await expect(stranger.issueAgentCard(wish)).rejects.toEqual(refusal(404));
    expect((await stranger.listCards()).data).toEqual([]);
    expect((await stranger.listCards({ query: { agentId: agent.agentId } })).data).toEqual([]);
    expect(await eventNamesOf(world, agent.cardId)).toEqual([]);
  });

  test('an agent reads no other agent’s cards and moves none', async () => {
    const sister = await anAgentWithCard(world, owner);
    await expect(asAgent().getCard({ params: { cardId: sister.cardId } })).rejects.toEqual(refusal(403));
    await expect(asAgent().listAgentCards({ params: { agentId: sister.agentId } })).rejects.toEqual(refusal(403));
    const own = asAgent();
    for (const call of [own.freezeCard, own.unfreezeCard, own.closeCard])
      await expect(call(one())).rejects.toEqual(refusal(403));
    for (const call of [own.freezePrimaryCard, own.unfreezePrimaryCard, own.closePrimaryCard]) {
      await expect(call(ofAgent())).rejects.toEqual(refusal(403));
    }
    await expect(own.issueAgentCard({ ...ofAgent(), body: { usage: 'multi', purpose: 'x' } })).rejects.toEqual(
      refusal(403),
    );
  });

  test('a token without cards.read reads none', async () => {
    await world.sql(`update agent_tokens set scopes = '{intents.read}' where agent_id = $1`, [agent.agentId]);
    await expect(asAgent().getCard(one())).rejects.toEqual(refusal(403, /cards\.read/));
  });

  test('a call without a token is 401', async () => {
    const nobody = createClient(cardsArea, sendTo(world.apiUrl));
    await expect(nobody.getCard(one())).rejects.toEqual(refusal(401));
    await expect(nobody.closeCard(one())).rejects.toEqual(refusal(401));
  });

  test('unknown ids are 404, ids that cannot be one are 400', async () => {
    await expect(cards().getCard({ params: { cardId: 'ca_aaaaaaaa' } })).rejects.toEqual(refusal(404));
    await expect(cards().closePrimaryCard({ params: { agentId: 'ag_aaaaaaaa' } })).rejects.toEqual(refusal(404));
    expect((await owner.send({ method: 'POST', path: '/cards/CA_AAAAAAAA/close', headers: {} })).status).toBe(400);
  });
});

describe('issuing while Temporal is away', () => {
  const wish = (body: Record<string, unknown> = {}) => ({
    ...ofAgent(),
    body: { usage: 'multi', purpose: 'travel', ...body } as const,
    headers: { 'Idempotency-Key': uuidv7() },
  });

  test('is 503 with Retry-After; the reservation stays unseen and a repeat finds the same one', async () => {
    const order = wish();
    for (let attempt = 0; attempt < 2; attempt++) {
      const answer = await cards()
        .issueAgentCard(order)
        .catch((error: unknown) => error);
      expect(answer).toEqual(refusal(503));
      expect((answer as { headers: Headers }).headers.get('Retry-After')).toMatch(/^\d+$/);
    }
    const reserved = await world.sql<{ id: string; name: string }>(
      'select id, name from cards where agent_id = $1 and is_provisioning',
      [agent.agentId],
    );
    expect(reserved).toEqual([{ id: expect.any(String), name: 'card 2' }]);
    expect((await cards().listAgentCards(ofAgent())).map(({ id }) => id)).toEqual([agent.cardId]);
    expect(
      await world.sql('select stage, is_open from workflow_runs where subject_id = $1', [reserved[0]?.id]),
    ).toEqual([{ stage: 'issuing', is_open: true }]);
    expect(await eventNamesOf(world, reserved[0]?.id ?? '')).toEqual([]);
  });

  test('a taken name, an agent that is not active and a full plan are refused before anything is reserved', async () => {
    await expect(cards().issueAgentCard(wish({ name: 'default' }))).rejects.toEqual(
      refusal(400, /a card of that name/),
    );
    await setAgent('frozen');
    await expect(cards().issueAgentCard(wish())).rejects.toEqual(refusal(400, /is frozen/));
    await setAgent('closed');
    await expect(cards().issueAgentCard(wish())).rejects.toEqual(refusal(400, /is closed/));
    await setAgent('active');
    await world.sql(`update customers set plan = 'free' where owner_id = $1`, [owner.ownerId]);
    await expect(cards().issueAgentCard(wish())).rejects.toEqual(refusal(403, /free plan allows 1 card/));
    expect(await world.sql('select id from cards where agent_id = $1', [agent.agentId])).toHaveLength(1);
  });

  test.each<[string, Record<string, unknown>]>([
    ['no usage', { purpose: 'x' }],
    ['no purpose', { usage: 'multi' }],
    ['an empty purpose', { usage: 'multi', purpose: '' }],
    ['an unknown usage', { usage: 'twice', purpose: 'x' }],
    ['a negative limit', { usage: 'multi', purpose: 'x', dailyLimitEuros: -1 }],
    ['an unknown field', { usage: 'multi', purpose: 'x', pan: '4242' }],
  ])('%s is 400', async (_what, body) => {
    const answer = await owner.send({
      method: 'POST',
      path: `/cards/agent/${agent.agentId}`,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(400);
  });
});
