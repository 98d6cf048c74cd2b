/**
 * Goal: from any id of a payment the same whole story in order, each part only for a caller that may read it alone, by a
 * bounded number of statements. Method: a real purchase over HTTP with worker and sandbox; rows for the rare cases.
 * @module
 */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { createClient, type Refused, sendTo } from '../../../src/client/client.ts';
import { webhooksArea } from '../../../src/domains/delivery/webhooks/webhook.contract.ts';
import { agentTokensArea } from '../../../src/domains/identity/agent-tokens/agent-token.contract.ts';
import { traceArea } from '../../../src/domains/oversight/trace/trace.contract.ts';
import { mostEvents, mostOfPart } from '../../../src/domains/oversight/trace/trace.rules.ts';
import type { Scope } from '../../../src/http/scopes.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { type Records, recordsOf } from '../../support/factories/records.ts';
import { anIntent, aPayer, networkOf } from '../../support/payments-world.ts';
import { refusalOf } from '../../support/refusals.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
let records: Records;
beforeAll(async () => {
  world = await startWorld({ worker: true, env: { TEMPORAL_UI_URL: 'http://temporal.example/ui' } });
  owner = await world.owner();
  const url = `${world.sandboxUrl}/receiver/trace`;
  await owner.client(webhooksArea).createWebhook({ body: { url, events: ['transaction.completed'] } });
  records = await recordsOf(world, owner);
});
afterAll(async () => {
  await world.close();
});

const traceOf = (anyId: string, by: Pick<Owner, 'client'> = owner) =>
  by.client(traceArea).getTrace({ params: { anyId } });
type Trace = Awaited<ReturnType<typeof traceOf>>;

const partsOf = ({ entries }: Trace) => new Set(entries.map(({ part }) => part));

async function tokenWith(scopes: Scope[]) {
  const { token } = await owner
    .client(agentTokensArea)
    .createAgentToken({ params: { id: records.agentId }, body: { label: 'scoped', scopes } });
  return world.as(token);
}

describe('a purchase', () => {
  test('is told in order, from its declaration to its deliveries and runs', async () => {
    const story = await eventually(
      () => traceOf(records.completedIntentId),
      (trace) => trace.entries.some(({ part, status }) => part === 'delivery' && status === 'succeeded'),
    );
    expect(story).toMatchObject({
      id: records.completedIntentId,
      rootId: records.completedIntentId,
      agentId: records.agentId,
      leftOut: [],
    });
    expect(partsOf(story)).toEqual(
      new Set(
        'declaration decision approval checkout transaction charge_decision network_message posting event delivery workflow_run'.split(
          ' ',
        ),
      ),
    );
    const instants = story.entries.map(({ at }) => at);
    expect(instants).toEqual(instants.toSorted());
    const [first] = story.entries;
    expect(first).toMatchObject({
      part: 'declaration',
      id: records.completedIntentId,
      parentId: null,
      amountEuros: 12.5,
    });
    const checkout = story.entries.find(({ part }) => part === 'checkout');
    const transaction = story.entries.find(({ part }) => part === 'transaction');
    expect(checkout).toMatchObject({ parentId: records.completedIntentId, status: 'paid' });
    expect(transaction).toMatchObject({ id: records.transactionId, parentId: checkout?.id, status: 'completed' });
    const decision = story.entries.find(({ part }) => part === 'charge_decision');
    expect(decision).toMatchObject({ parentId: records.transactionId, status: 'approved' });
    expect(decision?.rules.every(({ outcome }) => outcome === 'pass')).toBe(true);
    expect(JSON.stringify(decision?.rules)).not.toContain('Cents');
    const kinds = story.entries.filter(({ part }) => part === 'network_message').map(({ title }) => title);
    expect(kinds).toEqual(['authorization by the card network', 'clearing by the card network']);
    for (const { lines } of story.entries.filter(({ part }) => part === 'posting')) {
      const signed = lines.map(({ direction, amountEuros }) => (direction === 'debit' ? -amountEuros : amountEuros));
      expect(Math.round(signed.reduce((sum, amount) => sum + amount, 0) * 100)).toBe(0);
    }
    const run = story.entries.find(({ id }) => id === `intent/${records.completedIntentId}`);
    expect(run?.link).toBe(
      `http://temporal.example/ui/namespaces/default/workflows/${encodeURIComponent(`intent/${records.completedIntentId}`)}`,
    );
    const ids = new Set(story.entries.map(({ id }) => id));
    expect(story.entries.filter(({ parentId }) => parentId !== null && !ids.has(parentId))).toEqual([]);
  });

  test('is the same story from each of its ids', async () => {
    const story = await traceOf(records.completedIntentId);
    const idOf = (wanted: string) => story.entries.find(({ part }) => part === wanted)?.id ?? wanted;
    for (const id of [
      records.transactionId,
      idOf('checkout'),
      idOf('posting'),
      idOf('event'),
      idOf('delivery'),
      idOf('posting').replace('jr_', 'le_').concat('00'),
    ]) {
      const other = await traceOf(id);
      expect([id, other.rootId]).toEqual([id, records.completedIntentId]);
      expect(other.entries.length).toBeGreaterThanOrEqual(story.entries.length);
    }
  });
});

test('a delivery that was made again has an entry of its own beside the first one', async () => {
  const webhooks = owner.client(webhooksArea);
  const story = await eventually(
    () => traceOf(records.completedIntentId),
    (trace) => trace.entries.some(({ part, status }) => part === 'delivery' && status === 'succeeded'),
  );
  const first = story.entries.find(({ part, status }) => part === 'delivery' && status === 'succeeded');
  const params = { deliveryId: first?.id as `whd_${string}` };
  const { id } = await webhooks.redeliverWebhookDelivery({ params });
  const after = await traceOf(records.completedIntentId);
  const deliveries = after.entries.filter(({ part, parentId }) => part === 'delivery' && parentId === first?.parentId);
  expect(deliveries.map(({ id: one, title }) => [one, title])).toEqual([
    [first?.id, 'delivery of transaction.completed'],
    [id, 'repeated delivery of transaction.completed'],
  ]);
  expect((await traceOf(id)).rootId).toBe(records.completedIntentId);
});

test('what waits for a person shows the approver’s page to the owner, and to no agent', async () => {
  const approval = ({ entries }: Trace) => entries.find(({ part }) => part === 'approval');
  expect(approval(await traceOf(records.intentId))).toMatchObject({
    title: 'waits for a person',
    link: expect.stringContaining('/approve/'),
  });
  const seen = await traceOf(records.intentId, world.as(records.token));
  expect(approval(seen)).toMatchObject({ title: 'waits for a person', link: null });
});

describe('an agent’s token', () => {
  test('with every scope gets all but the deliveries, and no link', async () => {
    const story = await traceOf(records.completedIntentId, world.as(records.token));
    expect(partsOf(story).has('delivery')).toBe(false);
    expect(partsOf(story).has('posting')).toBe(true);
    expect(story.leftOut).toEqual([{ part: 'delivery', reason: 'owner_only' }]);
    expect(story.entries.filter(({ link }) => link !== null)).toEqual([]);
  });

  test('gets only the parts that its scopes open, with the names of those that are missing', async () => {
    const some = await tokenWith(['intents.read', 'transactions.read']);
    const story = await traceOf(records.completedIntentId, some);
    expect(partsOf(story)).toEqual(
      new Set([
        'declaration',
        'decision',
        'approval',
        'transaction',
        'charge_decision',
        'network_message',
        'workflow_run',
      ]),
    );
    expect(story.leftOut).toContainEqual({ part: 'posting', reason: 'scope' });
    expect(story.entries.find(({ part }) => part === 'transaction')?.parentId).toBe(records.completedIntentId);
    const few = await traceOf(records.completedIntentId, await tokenWith(['intents.read']));
    expect(few.entries.filter(({ rules }) => rules.length > 0)).toEqual([]);
    expect(JSON.stringify(few.entries)).not.toContain(records.transactionId);
  });

  test('does not begin where it may not read', async () => {
    const few = await tokenWith(['intents.read']);
    for (const id of [records.transactionId, records.cardId]) {
      expect(await refusalOf(traceOf(id, few))).toEqual([403, expect.stringContaining('lacks the scope')]);
    }
    expect((await refusalOf(traceOf(records.deliveryId, world.as(records.token))))[0]).toBe(403);
  });

  test('of a sibling is refused, and another owner finds nothing', async () => {
    const sibling = await aPayer(world, { owner });
    const stranger = await world.owner();
    for (const id of [records.completedIntentId, records.transactionId, records.entryId]) {
      expect((await refusalOf(traceOf(id, world.as(sibling.token))))[0]).toBe(403);
      expect((await refusalOf(traceOf(id, stranger)))[0]).toBe(404);
    }
  });
});

test.each([
  ['agent', (r: Records) => r.agentId],
  ['card', (r: Records) => r.cardId],
  ['webhook', (r: Records) => r.webhookId],
  ['wallet', (r: Records) => r.walletId],
  ['funding', (r: Records) => r.fundingId],
] as const)('of the %s the trace has the record and its events', async (noun, idOf) => {
  const story = await traceOf(idOf(records));
  expect(story.entries[0]).toMatchObject({ part: 'record', id: idOf(records), title: noun });
  expect(partsOf(story).has('event')).toBe(noun !== 'funding');
});

test.each([newId('intent'), newId('owner'), newId('checkout'), 'xx_01kc1v9m3se7ttw5v1x0h2q8ab'])(
  '%s is unknown',
  async (id) => {
    expect((await refusalOf(traceOf(id)))[0]).toBe(404);
  },
);

test('what is no id is refused', async () => {
  const refused = (await createClient(traceArea, sendTo(world.apiUrl, owner.key))
    .getTrace({ params: { anyId: "int_1' or 1=1" } })
    .catch((error: unknown) => error)) as Refused;
  expect(refused.status).toBe(400);
});

test('a long story takes as many statements as a short one, and says what it left out', async () => {
  const payer = await aPayer(world);
  const [short, long] = [await anIntent(world, payer), await anIntent(world, payer)];
  const at = new Date();
  await world.sql(
    `insert into transactions (id, owner_id, agent_id, card_id, intent_id, type, status, amount_cents, requested_cents,
       request_id, created_at, updated_at)
     select 'tx_many' || lpad(n::text, 8, '0'), $1, $2, $3, $4, 'authorization', 'failed', n, n, 'req', $5, $5
     from generate_series(1, $6) n`,
    [payer.owner.ownerId, payer.agentId, payer.cardId, long, at, 3 * mostOfPart],
  );
  await world.sql(
    `select record_changes((select jsonb_agg(jsonb_build_object('id', 'ev_many' || n, 'owner_id', $1::text,
       'agent_id', $2::text, 'subject_id', $3::text, 'name', 'intent.created', 'data', '{}'::jsonb, 'request_id', 'req',
       'created_at', $4::timestamptz)) from generate_series(1, $5) n), '[]')`,
    [payer.owner.ownerId, payer.agentId, long, at, mostEvents + 5],
  );
  const sent = jest.spyOn(pg.Client.prototype, 'query');
  const statementsOf = async (id: string) => {
    const before = sent.mock.calls.length;
    const story = await traceOf(id, payer.owner);
    return { story, statements: sent.mock.calls.length - before };
  };
  await statementsOf(short);
  const [one, other] = [await statementsOf(short), await statementsOf(long)];
  sent.mockRestore();
  expect(one.story.leftOut).toEqual([]);
  expect(other.story.leftOut).toEqual([
    { part: 'transaction', reason: 'too_many' },
    { part: 'event', reason: 'too_many' },
  ]);
  expect(other.story.entries.filter(({ part }) => part === 'transaction')).toHaveLength(mostOfPart);
  expect(other.story.entries.filter(({ part }) => part === 'event')).toHaveLength(mostEvents);
  expect(one.statements).toBeLessThan(40);
  expect(other.statements).toBeLessThan(40);
});

test('is of one moment: what is collected while it is read is in none of its parts', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
  const intentId = await anIntent(world, payer);
  const network = networkOf(world);
  const message = network.authorizationOf(payer);
  const { body } = await network.send<{ decision: string }>('authorizations', message);
  expect(body.decision).toBe('approved');
  const statesOf = ({ entries }: Trace) =>
    ['declaration', 'transaction'].map((wanted) => entries.find(({ part }) => part === wanted)?.status);
  const lock = new pg.Client({ connectionString: world.ownerUrl });
  await lock.connect();
  try {
    await lock.query('begin');
    // Read after the intent, with the transactions; a clearing does not touch it.
    await lock.query('lock table evidence in access exclusive mode');
    const read = traceOf(intentId, payer.owner);
    await eventually(
      () => world.sql(`select 1 from pg_locks where relation = 'evidence'::regclass and not granted`),
      (waiting) => waiting.length > 0,
    );
    expect((await network.clear(payer, { authorizationId: message.id })).status).toBe(200);
    await lock.query('commit');
    expect(statesOf(await read)).toEqual(['approved', 'pending']);
  } finally {
    await lock.end();
  }
  expect(statesOf(await traceOf(intentId, payer.owner))).toEqual(['completed', 'completed']);
});
