/**
 * A charge on request through everything: the API, the workflow, the sandbox's network over HTTP, and back through the
 * network's own operations, the rules, the book and the clearing.
 * @module
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { simulationActivities } from '../../../activities/payments/simulation.activities.ts';
import { createClient, sendTo } from '../../../src/client/client.ts';
import type { NetworkSimulator } from '../../../src/domains/payments/simulations/simulation.port.ts';
import { openSimulation } from '../../../src/domains/payments/simulations/simulation.service.ts';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { type Id, newId, uuidv7 } from '../../../src/kernel/ids.ts';
import { day } from '../../../src/kernel/instant.ts';
import { cents } from '../../../src/kernel/money.ts';
import { startApi } from '../../../src/main/api-server.ts';
import { type Infrastructure, openInfrastructure } from '../../../src/main/infrastructure.ts';
import { entities, workflows } from '../../../src/main/modules/index.ts';
import { eventNamesOf } from '../../support/events.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { aPayer, brokenInvariants, networkOf } from '../../support/payments-world.ts';
import { refusal } from '../../support/refusals.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let infrastructure: Infrastructure;
let owner: Owner;
let agentId: Id<'agent'>;
let cardId: Id<'card'>;
beforeAll(async () => {
  world = await startWorld({ worker: true });
  infrastructure = await openInfrastructure(world.config, { name: 'simulate-test', entities, workflows });
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await infrastructure.close();
  await world.close();
});
beforeEach(async () => {
  owner = await world.owner();
  await api().fund.fundWallet({ body: { amountEuros: 100 } });
  const agent = await api().agents.createAgent({ body: { name: 'buyer' } });
  agentId = agent.id as typeof agentId;
  cardId = agent.cardId as typeof cardId;
});

const api = () => clientsOf(owner);
type Order = NonNullable<Parameters<ReturnType<typeof api>['transactions']['simulateTransaction']>[0]>['body'];
const simulate = (order: Partial<Order> = {}, key: string = uuidv7()) =>
  api().transactions.simulateTransaction({ body: { cardId, ...order }, headers: { 'Idempotency-Key': key } });
const declare = async (expectedAmountEuros: number, expectedMerchant = 'Corner Shop') =>
  (await api().intents.declareIntent({ body: { agentId, purpose: 'x', expectedAmountEuros, expectedMerchant } }))
    .id as Id<'intent'>;
const intent = (id: Id<'intent'>) => api().intents.getIntent({ params: { id } });
const withoutIntents = () =>
  api().policies.updateAgentPolicy({ params: { agentId }, body: { requireIntent: false, blockedMccs: ['7995'] } });
const available = async () => (await api().agents.getAgentWallet({ params: { id: agentId } })).walletBalance.available;

describe('approve', () => {
  test('the named intent is paid for, cleared and completed; money, rail and events are a payment’s', async () => {
    const intentId = await declare(12.5);
    const transaction = await simulate({ intentId });
    expect(transaction).toMatchObject({
      ...{ agentId, cardId, intentId, amountEuros: 12.5, clearedEuros: 12.5, heldEuros: 0 },
      ...{ rail: 'simulate', type: 'capture', status: 'completed' },
      ...{ merchant: 'Corner Shop', merchantMcc: '5734', merchantCountry: 'DE', declineRule: null },
    });
    expect(transaction.events.map(({ kind }) => kind)).toEqual(['authorization', 'clearing']);
    expect(await intent(intentId)).toMatchObject({ status: 'completed', transactionId: transaction.id });
    expect(await eventNamesOf(world, transaction.id)).toEqual([
      ...['transaction.created', 'transaction.authorization'],
      ...['transaction.settlement', 'transaction.settled', 'transaction.completed'],
    ]);
    expect(await available()).toBe(87.5);
    const [row] = await world.sql('select status, attempt, transaction_id from simulations where owner_id = $1', [
      owner.ownerId,
    ]);
    expect(row).toEqual({ status: 'done', attempt: 1, transaction_id: transaction.id });
  });

  test('omitted fields come from the intent, then from the sandbox shop; given fields win', async () => {
    await withoutIntents();
    expect(await simulate({ amountEuros: 3 })).toMatchObject({ merchant: 'Sandbox Shop', intentId: null });
    const order = { amountEuros: 2.25, merchant: 'Café Zürich', mcc: '5812', country: 'ch' };
    expect(await simulate(order)).toMatchObject({
      ...{
        amountEuros: 2.25,
        merchant: 'Café Zürich',
        merchantMcc: '5812',
        merchantCountry: 'CH',
        status: 'completed',
      },
    });
    const intentId = await declare(10);
    expect(await simulate({ intentId, amountEuros: 9.5 })).toMatchObject({ amountEuros: 9.5, intentId });
  });

  test('where the merchant collects a day later, the answer is the held transaction', async () => {
    await withoutIntents();
    const held = await simulate({ amountEuros: 20, merchant: 'Sandbox Hotel', mcc: '7011' });
    expect(held).toMatchObject({ status: 'pending', heldEuros: 20, rail: 'simulate' });
    await world.advance(day + 60_000);
    await eventually(
      () => api().transactions.getTransaction({ params: { id: held.id as Id<'transaction'> } }),
      ({ status }) => status === 'completed',
    );
  });

  test('it links the transaction of a confirm, and the rail names the kind of payment', async () => {
    const intentId = await declare(7);
    const headers = { 'Idempotency-Key': uuidv7() };
    const { transactionId } = await api().checkout.confirmCheckout({ body: { intentId }, headers });
    expect(await simulate({ amountEuros: 7, merchant: 'Corner Shop' })).toMatchObject({
      ...{ id: transactionId, rail: 'simulate', status: 'completed', confirmedAt: expect.any(String) },
    });
  });
});

describe('the rules decide', () => {
  test.each([
    ['intent_required', { amountEuros: 5 }],
    ['card_max_transaction', { amountEuros: 30 }],
    ['mcc_blocklist', { amountEuros: 5, mcc: '7995' }],
    ['insufficient_funds', { amountEuros: 19 }],
  ])('%s', async (rule, order) => {
    await api().policies.updateAgentPolicy({
      params: { agentId },
      body: { blockedMccs: ['7995'], requireIntent: rule === 'intent_required' },
    });
    await api().cards.updateCardLimits({ params: { cardId }, body: { maxAmountPerTransaction: 20 } });
    if (rule === 'insufficient_funds') await api().agents.fundAgent({ params: { id: agentId }, body: { amount: 10 } });
    const declined = await simulate(order);
    expect(declined).toMatchObject({
      status: 'failed',
      rail: 'simulate',
      declineRule: rule,
      heldEuros: 0,
      clearedEuros: 0,
    });
    expect(await eventNamesOf(world, declined.id)).toEqual(['transaction.created', 'transaction.declined']);
  });

  test('a charge of a frozen card or of a frozen agent is declined', async () => {
    await withoutIntents();
    await api().cards.freezeCard({ params: { cardId } });
    expect(await simulate({ amountEuros: 1 })).toMatchObject({ status: 'failed', declineRule: 'card_status' });
    await api().cards.unfreezeCard({ params: { cardId } });
    await api().agents.freezeAgent({ params: { id: agentId } });
    expect(await simulate({ amountEuros: 1 })).toMatchObject({ status: 'failed', declineRule: 'agent_status' });
  });

  test('a charge for a named intent that does not fit is declined, also where no intent is required', async () => {
    await withoutIntents();
    const intentId = await declare(5);
    const other = await declare(9);
    const declined = await simulate({ intentId, amountEuros: 9 });
    expect(declined).toMatchObject({ intentId, status: 'failed', declineRule: 'simulation_intent' });
    expect(declined.declineReason).toContain(intentId);
    expect(await eventNamesOf(world, intentId)).toContain('intent.mismatched');
    for (const id of [intentId, other])
      expect(await intent(id)).toMatchObject({ status: 'approved', matchedTransactionId: null });
  });

  test('of two intents that fit equally the named one is matched', async () => {
    const [, second] = [await declare(5), await declare(5)];
    expect(await simulate({ intentId: second })).toMatchObject({ intentId: second, status: 'completed' });
  });
});

describe('decline', () => {
  test('declines a charge that the rules allow: nothing is held, the intent stays open', async () => {
    const intentId = await declare(5);
    const declined = await simulate({ intentId, outcome: 'decline' });
    expect(declined).toMatchObject({
      ...{ status: 'failed', type: 'authorization', rail: 'simulate', intentId, amountEuros: 5 },
      ...{ declineRule: 'simulated_decline', declineReason: expect.stringContaining('5.00') },
    });
    expect(await available()).toBe(100);
    expect(await intent(intentId)).toMatchObject({ status: 'approved' });
    expect(await simulate({ intentId })).toMatchObject({ status: 'completed' });
  });

  test('where a rule refuses anyway, that is the reason', async () => {
    expect(await simulate({ amountEuros: 5, outcome: 'decline' })).toMatchObject({ declineRule: 'intent_required' });
  });
});

describe('repeated', () => {
  test('with the same key it is one charge, in turn, at once, and after a lost answer', async () => {
    await withoutIntents();
    const key = uuidv7();
    const answers = await Promise.allSettled(Array.from({ length: 6 }, () => simulate({ amountEuros: 4 }, key)));
    const ids = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.id] : []));
    expect(new Set(ids).size).toBe(1);
    for (const answer of answers) if (answer.status === 'rejected') expect(answer.reason).toEqual(refusal(409));
    await world.sql('update idempotency set status = null, body = null, lease_until = null where key = $1', [key]);
    expect(await simulate({ amountEuros: 4 }, key)).toMatchObject({ id: ids[0] });
    expect(await available()).toBe(96);
  });

  test('with other keys, for one intent at once, it is paid for once', async () => {
    const intentId = await declare(5);
    const answers = await Promise.allSettled(Array.from({ length: 4 }, () => simulate({ intentId })));
    const paid = answers.filter((answer) => answer.status === 'fulfilled' && answer.value.status === 'completed');
    expect(paid).toHaveLength(1);
    expect(await available()).toBe(95);
    await expect(simulate({ intentId })).rejects.toEqual(refusal(400, /the intent is completed/));
  });
});

describe('is refused', () => {
  const body = (order: object) => ({
    method: 'POST',
    path: '/transactions/simulate',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(order),
  });
  test.each([
    [{ amountEuros: 5 }],
    [{ cardId: 'ca_aaaaaaaa', amountEuros: 0 }],
    [{ cardId: 'ca_aaaaaaaa', amountEuros: -1 }],
    [{ cardId: 'ca_aaaaaaaa', amountEuros: 5, mcc: '57' }],
    [{ cardId: 'ca_aaaaaaaa', amountEuros: 5, country: 'Germany' }],
    [{ cardId: 'ca_aaaaaaaa', amountEuros: 5, outcome: 'maybe' }],
    [{ cardId: 'ca_aaaaaaaa', amountEuros: 5, rail: 'card' }],
  ])('%j', async (order) => {
    expect((await owner.send(body(order))).status).toBe(400);
  });

  test('without an amount, for another card’s, a foreign or a closed intent', async () => {
    await expect(simulate()).rejects.toEqual(refusal(400, /body\.amountEuros/));
    await expect(simulate({ cardId: 'ca_aaaaaaaa' as Id<'card'>, amountEuros: 1 })).rejects.toEqual(refusal(404));
    const intentId = await declare(5);
    const sister = await api().agents.createAgent({ body: { name: 'sister' } });
    await expect(simulate({ intentId, cardId: sister.cardId as Id<'card'> })).rejects.toEqual(
      refusal(400, /is for card/),
    );
    const pending = await declare(80);
    await expect(simulate({ intentId: pending })).rejects.toEqual(refusal(400, /pending_approval/));
    await api().intents.cancelIntent({ params: { id: intentId } });
    await expect(simulate({ intentId })).rejects.toEqual(refusal(400, /cancelled/));
    await expect(simulate({ intentId: 'int_aaaaaaaa' as Id<'intent'> })).rejects.toEqual(refusal(404));
    const late = await declare(6);
    await world.sql(`update intents set expires_at = created_at where id = $1`, [late]);
    await expect(simulate({ intentId: late })).rejects.toEqual(refusal(400, /expired/));
    expect(await world.sql('select 1 from simulations where owner_id = $1', [owner.ownerId])).toEqual([]);
  });

  test('while another payment of the intent is under way', async () => {
    const intentId = await declare(9, 'Sandbox Hotel');
    const { id } = await simulate({ intentId });
    await expect(simulate({ intentId })).rejects.toEqual(refusal(400, new RegExp(`${id} is paying`)));
  });

  test('by an agent, by another owner, and for a card that the network does not know', async () => {
    const { token } = await api().tokens.createAgentToken({ params: { id: agentId }, body: {} });
    const order = { body: { cardId, amountEuros: 1 } };
    await expect(world.as(token).client(transactionsArea).simulateTransaction(order)).rejects.toEqual(refusal(403));
    await expect((await world.owner()).client(transactionsArea).simulateTransaction(order)).rejects.toEqual(
      refusal(404),
    );
    const unknown = await aPayer(world);
    const charge = { body: { cardId: unknown.cardId, amountEuros: 1 } };
    await expect(unknown.owner.client(transactionsArea).simulateTransaction(charge)).rejects.toEqual(
      refusal(400, /does not know the card/),
    );
  });
});

test('an authorization that names a simulation of another card is one like any', async () => {
  const payer = await aPayer(world);
  await withoutIntents();
  await simulate({ amountEuros: 1, outcome: 'decline' });
  const [row] = await world.sql<{ id: string }>('select id from simulations where owner_id = $1', [owner.ownerId]);
  const { body } = await networkOf(world).authorize(payer, { simulation: row?.id });
  expect(body.decision).toBe('approved');
  const [stored] = await world.sql('select rail from transactions where id = $1', [body.transactionId]);
  expect(stored).toEqual({ rail: 'card' });
});

describe('step by step', () => {
  /** Reserved, with a process that no worker will pick up. */
  async function aSimulation(): Promise<Id<'simulation'>> {
    const id = newId('simulation');
    const cause = { causeId: uuidv7(), requestId: uuidv7(), actor: { kind: 'system' }, at: new Date() } as const;
    await infrastructure.database.write(async (tx) => {
      const charge = {
        amountCents: cents(300),
        merchant: 'Corner Shop',
        mcc: '5734',
        country: 'DE',
        wanted: 'approve',
      } as const;
      await openSimulation(tx, cause, { id, ownerId: owner.ownerId, agentId, cardId, intentId: null, ...charge });
      await tx.execute(`delete from workflow_runs where subject_id = '${id}'`);
    });
    return id;
  }
  const stepsWith = (charge: NetworkSimulator['charge']) => {
    const { database, clock } = infrastructure;
    return simulationActivities({ database, clock, simulator: { charge } });
  };

  /** As the network does for it, without the simulator. */
  async function authorize(id: string) {
    const [card] = await world.sql<{ card_ref: string }>('select card_ref from cards where id = $1', [cardId]);
    const message = {
      id: `auth_${id}`,
      cardRef: card?.card_ref,
      amountCents: cents(300),
      currency: 'EUR',
      simulation: id,
    };
    const merchant = { id: 'm_corner', name: 'Corner Shop', mcc: '5734', country: 'DE' };
    return networkOf(world).send<{ transactionId: string }>('authorizations', { ...message, merchant });
  }

  test('a network that decided without Bursar’s answer is asked again under another key', async () => {
    const id = await aSimulation();
    const keys: string[] = [];
    const steps = stepsWith(async ({ idempotencyKey }) => {
      keys.push(idempotencyKey);
      return { outcome: 'undecided', authorizationId: `auth_${id}` };
    });
    await expect(steps.playSimulation(id)).rejects.toMatchObject({ type: 'unavailable', nonRetryable: false });
    await expect(steps.playSimulation(id)).rejects.toMatchObject({ type: 'unavailable' });
    expect(keys).toEqual([`${id}/1`, `${id}/2`]);
    expect(await steps.readSimulation(id)).toMatchObject({ view: { status: 'open', transactionId: null } });
  });

  test('where Bursar had decided after all, the answer is that transaction', async () => {
    const id = await aSimulation();
    await withoutIntents();
    const { body } = await authorize(id);
    const steps = stepsWith(async () => ({ outcome: 'undecided', authorizationId: `auth_${id}` }));
    expect(await steps.playSimulation(id)).toMatchObject({
      view: { status: 'done', transactionId: body.transactionId },
    });
    const never = stepsWith(async () => Promise.reject(new Error('asked again')));
    expect(await never.playSimulation(id)).toMatchObject({ view: { status: 'done' } });
  });

  test('a decision that was too late for the network is the transaction, and nothing is charged again', async () => {
    const id = await aSimulation();
    await withoutIntents();
    let late: ReturnType<typeof authorize> | undefined;
    const steps = stepsWith(async () => {
      late = new Promise((resolve) => setTimeout(resolve, 300)).then(() => authorize(id));
      return { outcome: 'undecided', authorizationId: `auth_${id}` };
    });
    const view = await steps.playSimulation(id);
    expect(view).toMatchObject({ view: { status: 'done', transactionId: (await late)?.body.transactionId } });
    expect(await world.sql('select attempt from simulations where id = $1', [id])).toEqual([{ attempt: 1 }]);
  });

  test('a step for one that does not exist fails for good', async () => {
    const steps = stepsWith(async () => Promise.reject(new Error('asked')));
    await expect(steps.playSimulation('sim_aaaaaaaa')).rejects.toMatchObject({ nonRetryable: true, type: 'not_found' });
  });
});

test('with Temporal away it is 503; the same key continues the same simulation, and charges once', async () => {
  await withoutIntents();
  const cutOff = await startApi({ ...world.config, PORT: 0, TEMPORAL_ADDRESS: '127.0.0.1:9' });
  try {
    const key = uuidv7();
    const order = { body: { cardId, amountEuros: 6 }, headers: { 'Idempotency-Key': key } };
    const away = createClient(transactionsArea, sendTo(cutOff.url, owner.key));
    const answer = await away.simulateTransaction(order).catch((error: unknown) => error);
    expect(answer).toEqual(refusal(503, /same Idempotency-Key/));
    expect((answer as { headers: Headers }).headers.get('Retry-After')).toMatch(/^\d+$/);
    expect(await simulate({ amountEuros: 6 }, key)).toMatchObject({ amountEuros: 6, rail: 'simulate' });
    expect(await world.sql('select 1 from simulations where owner_id = $1', [owner.ownerId])).toHaveLength(1);
    await eventually(available, (left) => left === 94);
    expect(await world.sql('select 1 from transactions where owner_id = $1', [owner.ownerId])).toHaveLength(1);
  } finally {
    await cutOff.stop();
  }
});
