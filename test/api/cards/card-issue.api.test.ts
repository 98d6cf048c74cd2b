/**
 * A further card from the request to the network's reference and back to closed, through the real worker, the real dev
 * server and the simulated processor; then the steps of the worker alone, repeated, late and in every order.
 * @module
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { cardActivities } from '../../../activities/cards/card.activities.ts';
import { cardsArea } from '../../../src/domains/cards/cards/card.contract.ts';
import type { CardProcessor } from '../../../src/domains/cards/cards/card.port.ts';
import { prepareCard } from '../../../src/domains/cards/cards/card.reserve.service.ts';
import { closeCardsOf, freezeCardsOf } from '../../../src/domains/cards/cards/card.service.ts';
import { type Id, newId, uuidv7 } from '../../../src/kernel/ids.ts';
import { type Infrastructure, openInfrastructure } from '../../../src/main/infrastructure.ts';
import { entities, workflows } from '../../../src/main/modules/index.ts';
import type { Cause } from '../../../src/platform/cause.ts';
import { eventNamesOf } from '../../support/events.ts';
import { type AgentWithCard, anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let infrastructure: Infrastructure;
let connection: Connection;
let owner: Owner;
let agent: AgentWithCard;
beforeAll(async () => {
  world = await startWorld({ worker: true });
  infrastructure = await openInfrastructure(world.config, { name: 'cards-test', entities, workflows });
  connection = await Connection.connect({ address: world.config.TEMPORAL_ADDRESS });
});
afterAll(async () => {
  await connection.close();
  await infrastructure.close();
  await world.close();
});
beforeEach(async () => {
  owner = await world.owner();
  agent = await anAgentWithCard(world, owner);
});

const cards = () => owner.client(cardsArea);
const rowOf = async (cardId: string) =>
  (await world.sql<Record<string, unknown>>('select * from cards where id = $1', [cardId]))[0];
const causeOf = (): Cause => ({
  causeId: uuidv7(),
  requestId: uuidv7(),
  actor: { kind: 'key', id: 'key_aaaaaaaa' },
  at: new Date(),
});

describe('through the worker', () => {
  const order = (body: Record<string, unknown> = {}) => ({
    params: { agentId: agent.agentId },
    body: { usage: 'single', purpose: 'Travel in May', ...body } as const,
    headers: { 'Idempotency-Key': uuidv7() },
  });

  // spec: does:Cards:issue
  // spec: state:Card:issued
  // spec: state:Card:activated
  // spec: event:card.issued
  // spec: event:card.activated
  test('a card is issued, returned, frozen and closed, each also at the processor; its run records each step', async () => {
    const card = await cards().issueAgentCard(order({ name: 'travel', displayName: 'Travel', dailyLimitEuros: 50 }));
    expect(card).toMatchObject({
      agentId: agent.agentId,
      name: 'travel',
      displayName: 'Travel',
      purpose: 'Travel in May',
      usage: 'single',
      status: 'active',
      isPrimary: false,
      dailyLimitEuros: 50,
      last4: expect.stringMatching(/^\d{4}$/),
      cardRef: expect.any(String),
    });
    expect(await eventNamesOf(world, card.id)).toEqual(['card.issued', 'card.activated']);
    const [audit] = await world.sql('select actor, action from audit where subject_id = $1', [card.id]);
    expect(audit).toMatchObject({ action: 'card.issued', actor: expect.stringMatching(/^key:/) });

    const handle = new Client({ connection }).workflow.getHandle(`card/${card.id}`);
    const stageIs = (wanted: string) =>
      eventually(
        async () => {
          const { typedSearchAttributes } = await handle.describe();
          return Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
        },
        ({ BursarStage }) => BursarStage === wanted,
      );
    expect(await stageIs('active')).toMatchObject({
      BursarOwnerId: owner.ownerId,
      BursarAgentId: agent.agentId,
      BursarSubjectId: card.id,
      BursarStage: 'active',
    });
    expect(await (await handle.describe()).staticSummary()).toContain(`Card ${card.id} of agent ${agent.agentId}:`);

    await cards().freezeCard({ params: { cardId: card.id as Id<'card'> } });
    await eventually(
      () => rowOf(card.id),
      (row) => row?.synced_state === 'frozen',
    );
    await stageIs('frozen');
    await cards().closeCard({ params: { cardId: card.id as Id<'card'> } });
    expect(await handle.result()).toMatchObject({ status: 'closed', syncedState: 'closed' });
    expect(await world.sql('select is_open, due_at from workflow_runs where subject_id = $1', [card.id])).toEqual([
      { is_open: false, due_at: null },
    ]);
  });

  test('the same key issues one card, also with eight concurrent requests', async () => {
    const same = order();
    const answers = await Promise.allSettled(Array.from({ length: 8 }, () => cards().issueAgentCard(same)));
    const issued = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.id] : []));
    expect(new Set(issued).size).toBe(1);
    for (const answer of answers)
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ status: 409 });
    expect(await cards().issueAgentCard(same)).toMatchObject({ id: issued[0] });
    expect(await world.sql('select id from cards where agent_id = $1', [agent.agentId])).toHaveLength(2);
    expect(await eventNamesOf(world, issued[0] ?? '')).toEqual(['card.issued', 'card.activated']);
  });

  test('eight different cards at once get eight names and one primary', async () => {
    await Promise.all(Array.from({ length: 8 }, () => cards().issueAgentCard(order())));
    const all = await cards().listAgentCards({ params: { agentId: agent.agentId } });
    expect(new Set(all.map(({ name }) => name)).size).toBe(9);
    expect(all.filter(({ isPrimary }) => isPrimary).map(({ id }) => id)).toEqual([agent.cardId]);
  });

  test('a card is issued although the API process died after the reservation', async () => {
    const cardId = newId('card');
    await infrastructure.database.write((tx) =>
      prepareCard(tx, causeOf(), {
        cardId,
        ownerId: owner.ownerId,
        agentId: agent.agentId,
        usage: 'multi',
        name: 'orphan',
      }),
    );
    await eventually(
      () => rowOf(cardId),
      (row) => row?.is_provisioning === false,
    );
    expect(await eventNamesOf(world, cardId)).toEqual(['card.issued', 'card.activated']);
  });
});

describe('step by step', () => {
  /** A processor in memory that records the states it was sent. */
  function aProcessor() {
    const told: string[] = [];
    let answer: Awaited<ReturnType<CardProcessor['setCardState']>> = { outcome: 'set' };
    const processor: CardProcessor = {
      issueCard: async ({ idempotencyKey }) => ({
        cardRef: `p_${idempotencyKey}`,
        last4: '0005',
        brand: 'visa',
        expiryMonth: 2,
        expiryYear: 2030,
      }),
      setCardState: async ({ state }) => {
        told.push(state);
        return answer;
      },
      mintPaymentToken: async () => ({ outcome: 'refused', reason: 'unknown_card' }),
    };
    return {
      processor,
      told,
      refuse: (reason: 'closed' | 'unknown_card') => (answer = { outcome: 'refused', reason }),
    };
  }

  let activated: string[];
  const stepsOf = (processor: CardProcessor) =>
    cardActivities({
      database: infrastructure.database,
      clock: infrastructure.clock,
      processor,
      onActivated: async (_tx, _cause, { cardId }) => {
        activated.push(`${cardId} after ${(await eventNamesOf(world, cardId)).length} events`);
      },
    });
  beforeEach(() => {
    activated = [];
  });

  /** Reserved, with a process that no worker will pick up. */
  async function aReservation(usage: 'single' | 'multi' = 'multi'): Promise<Id<'card'>> {
    const cardId = newId('card');
    await infrastructure.database.write(async (tx) => {
      await prepareCard(tx, causeOf(), { cardId, ownerId: owner.ownerId, agentId: agent.agentId, usage, name: cardId });
      await tx.execute(`delete from workflow_runs where subject_id = '${cardId}'`);
    });
    return cardId;
  }
  const brake = (move: typeof freezeCardsOf) =>
    infrastructure.database.write((tx) => move(tx, causeOf(), agent.agentId));

  test('a repeated step stores one answer and records its events once', async () => {
    const { processor } = aProcessor();
    const steps = stepsOf(processor);
    const cardId = await aReservation();
    expect(await steps.nextCardStep(cardId)).toMatchObject({ kind: 'issue' });
    const views = await Promise.all(Array.from({ length: 4 }, () => steps.issueCard(cardId)));
    expect(views.every(({ syncedState }) => syncedState === 'active')).toBe(true);
    expect(activated).toEqual([`${cardId} after 0 events`]);
    expect(await eventNamesOf(world, cardId)).toEqual(['card.issued', 'card.activated']);
    expect(await steps.nextCardStep(cardId)).toMatchObject({ kind: 'wait' });
  });

  test('a repeated reservation is one card', async () => {
    const cardId = await aReservation();
    const again = await infrastructure.database.write((tx) =>
      prepareCard(tx, causeOf(), {
        cardId,
        ownerId: owner.ownerId,
        agentId: agent.agentId,
        usage: 'multi',
        name: cardId,
      }),
    );
    expect(again).toEqual({ cardId, workflowId: `card/${cardId}` });
    expect(await world.sql('select 1 from cards where id = $1', [cardId])).toHaveLength(1);
  });

  test('frozen while it was issued: it appears frozen, and the processor gets the state', async () => {
    const { processor, told } = aProcessor();
    const steps = stepsOf(processor);
    const cardId = await aReservation();
    await brake(freezeCardsOf);
    await steps.issueCard(cardId);
    expect(await eventNamesOf(world, cardId)).toEqual(['card.issued', 'card.frozen']);
    expect(await steps.nextCardStep(cardId)).toMatchObject({
      kind: 'sync',
      view: { status: 'frozen', frozenBy: 'agent' },
    });
    await steps.syncCard(cardId);
    expect(told).toEqual(['frozen']);
    expect(await steps.nextCardStep(cardId)).toMatchObject({ kind: 'wait' });
  });

  test('closed while it was issued: it fires no event, and the processor closes it', async () => {
    const { processor, told } = aProcessor();
    const steps = stepsOf(processor);
    const cardId = await aReservation();
    await brake(closeCardsOf);
    expect(await steps.nextCardStep(cardId)).toMatchObject({ kind: 'issue' });
    await steps.issueCard(cardId);
    await steps.syncCard(cardId);
    expect(told).toEqual(['closed']);
    expect(await steps.nextCardStep(cardId)).toMatchObject({ kind: 'final' });
    expect(activated).toEqual([]);
    expect(await eventNamesOf(world, cardId)).toEqual([]);
    await expect(cards().getCard({ params: { cardId } })).rejects.toMatchObject({ status: 404 });
  });

  test('a change during a call to the processor is sent with the next call', async () => {
    const { processor, told } = aProcessor();
    const cardId = await aReservation();
    await stepsOf(processor).issueCard(cardId);
    await cards().freezeCard({ params: { cardId } });
    const slow = stepsOf({
      ...processor,
      setCardState: async (change) => {
        await cards().closeCard({ params: { cardId } });
        return processor.setCardState(change);
      },
    });
    expect(await slow.syncCard(cardId)).toMatchObject({ status: 'closed', syncedState: 'frozen' });
    expect(await slow.nextCardStep(cardId)).toMatchObject({ kind: 'sync' });
    await stepsOf(processor).syncCard(cardId);
    expect(told).toEqual(['frozen', 'closed']);
  });

  test('a card that only the processor closed is closed here too', async () => {
    const { processor, refuse } = aProcessor();
    const steps = stepsOf(processor);
    const cardId = await aReservation();
    await steps.issueCard(cardId);
    await cards().freezeCard({ params: { cardId } });
    refuse('closed');
    expect(await steps.syncCard(cardId)).toMatchObject({ status: 'closed', syncedState: 'closed' });
    expect((await eventNamesOf(world, cardId)).at(-1)).toBe('card.closed');
    expect(await steps.nextCardStep(cardId)).toMatchObject({ kind: 'final' });
  });

  test('calls to a processor that does not know the card end', async () => {
    const { processor, refuse } = aProcessor();
    const steps = stepsOf(processor);
    const cardId = await aReservation();
    await steps.issueCard(cardId);
    await cards().freezeCard({ params: { cardId } });
    refuse('unknown_card');
    expect(await steps.syncCard(cardId)).toMatchObject({ status: 'frozen', syncedState: 'frozen' });
    expect(await steps.nextCardStep(cardId)).toMatchObject({ kind: 'wait' });
  });

  test('after the primary card is closed the next issued card becomes the primary', async () => {
    const { processor } = aProcessor();
    await cards().closeCard({ params: { cardId: agent.cardId } });
    const cardId = await aReservation();
    await stepsOf(processor).issueCard(cardId);
    expect(await cards().getCard({ params: { cardId } })).toMatchObject({ isPrimary: true });
    expect(await cards().getCard({ params: { cardId: agent.cardId } })).toMatchObject({ isPrimary: false });
    expect(await cards().freezePrimaryCard({ params: { agentId: agent.agentId } })).toMatchObject({ cardId });
  });

  test('a step for a card that does not exist fails for good', async () => {
    const steps = stepsOf(aProcessor().processor);
    await expect(steps.nextCardStep('ca_aaaaaaaa')).rejects.toMatchObject({ nonRetryable: true, type: 'not_found' });
  });
});
