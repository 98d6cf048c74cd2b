/**
 * Goal: a consumer that polls the feed gets each committed event once and in one order, whatever commits at the same
 * time, and an agent gets only what concerns it. Method: HTTP against two API processes while forty connections write.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import * as z from 'zod';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { databaseOf } from '../../../src/db/database.ts';
import { openDatabase } from '../../../src/db/orm.ts';
import { oneRowOf } from '../../../src/db/statement.ts';
import { eventsArea } from '../../../src/domains/delivery/events/event.contract.ts';
import { eventFeed } from '../../../src/domains/delivery/events/event-feed.service.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { lastEvent } from '../../support/events.ts';
import { aPayer, type Payer } from '../../support/payments-world.ts';
import { refusalOf } from '../../support/refusals.ts';
import { seed } from '../../support/seed.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
});

const feedOf = (owner: Pick<Owner, 'client'>) => owner.client(eventsArea);

/** An event row as `record_changes` takes it. */
const anEvent = (ownerId: string, agentId: string | null = null) => ({
  id: newId('event'),
  owner_id: ownerId,
  agent_id: agentId,
  subject_id: newId('agent'),
  name: 'agent.updated',
  data: {},
  request_id: 'req',
  run_id: null,
  created_at: new Date().toISOString(),
});

const write = (client: Pick<pg.Client, 'query'>, events: readonly object[]) =>
  client.query(`select record_changes($1::jsonb, '[]')`, [JSON.stringify(events)]);

const aRound = fc.record({
  count: fc.integer({ min: 1, max: 3 }),
  pauseMs: fc.nat(20),
  isKept: fc.integer({ min: 0, max: 9 }).map((number) => number > 0),
});

/** All events after a position, call by call. */
async function readOn(owner: Pick<Owner, 'client'>, from: number, limit = 100) {
  const ids: string[] = [];
  for (let after = from; ; ) {
    const { data, position, hasMore } = await feedOf(owner).listEvents({
      query: { after: String(after), limit: String(limit) },
    });
    ids.push(...data.map(({ id }) => id));
    after = position;
    if (!hasMore) return { ids, position };
  }
}

test('forty writers and a consumer at two processes: nothing is missed, repeated or out of order', async () => {
  const owner = await world.owner();
  const second = await world.secondApi();
  const consumers = [feedOf(owner), createClient(eventsArea, sendTo(second.url, owner.key))];
  const { position: start } = await readOn(owner, 0);
  const clients = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const client = new pg.Client(world.ownerUrl);
      await client.connect();
      return client;
    }),
  );
  const committed = new Set<string>();
  let isWriting = true;
  const writing = Promise.all(
    clients.map(async (client, writer) => {
      const rounds = fc.sample(aRound, { seed: seed + writer, numRuns: 12 });
      for (const { count, pauseMs, isKept } of rounds) {
        const events = Array.from({ length: count }, () => anEvent(owner.ownerId));
        await client.query('begin');
        await write(client, events);
        await client.query('select pg_sleep($1)', [pauseMs / 1_000]);
        await client.query(isKept ? 'commit' : 'rollback');
        if (isKept) for (const { id } of events) committed.add(id);
      }
    }),
  ).finally(() => {
    isWriting = false;
  });

  const seen: string[] = [];
  const positions: number[] = [];
  let after = start;
  for (let call = 0, end = Number.POSITIVE_INFINITY; after < end; call++) {
    if (!isWriting) end = await lastEvent(world, owner);
    const feed = await consumers[call % 2]?.listEvents({ query: { after: String(after), limit: '7' } });
    if (feed === undefined) throw new Error('no consumer');
    seen.push(...feed.data.map(({ id }) => id));
    positions.push(...feed.data.map(({ position }) => position));
    expect(feed.position).toBeGreaterThanOrEqual(positions.at(-1) ?? after);
    after = feed.position;
  }
  await writing;
  await Promise.all(clients.map((client) => client.end()));
  expect(seen.filter((id) => !committed.has(id))).toEqual([]);
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.length).toBe(committed.size);
  expect(positions.every((position, index) => position > (positions[index - 1] ?? start))).toBe(true);
});

test('an event that commits late delays those after it, and comes before them', async () => {
  const owner = await world.owner();
  const { position: start } = await readOn(owner, 0);
  const late = new pg.Client(world.ownerUrl);
  await late.connect();
  const [first, other] = [anEvent(owner.ownerId), anEvent(owner.ownerId)];
  await late.query('begin');
  await write(late, [first]);
  await write({ query: world.sql as never }, [other]);
  expect((await readOn(owner, start)).ids).toEqual([]);
  expect((await feedOf(owner).listEvents({ query: { after: 'now' } })).position).toBeLessThanOrEqual(start);
  await late.query('commit');
  await late.end();
  const found = await eventually(
    async () => (await readOn(owner, start)).ids,
    (ids) => ids.length > 0,
  );
  expect(found).toEqual([first.id, other.id]);
});

test('a process that starts beside an open transaction does not know the current position, and answers no wrong one', async () => {
  const owner = await world.owner();
  const open = new pg.Client(world.ownerUrl);
  await open.connect();
  await open.query('begin');
  await write(open, [anEvent(owner.ownerId)]);
  const fresh = createClient(eventsArea, sendTo((await world.secondApi()).url, owner.key));
  const [status] = await refusalOf(fresh.listEvents({ query: { after: 'now' } }));
  expect(status).toBe(503);
  expect((await fresh.listEvents({ query: { after: '0' } })).data).toEqual([]);
  await open.query('commit');
  await open.end();
  const now = await fresh.listEvents({ query: { after: 'now' } });
  expect(now.position).toBeGreaterThanOrEqual(await lastEvent(world, owner));
});

describe('a call that waits', () => {
  test('is answered with the event as soon as there is one', async () => {
    const owner = await world.owner();
    const { position } = await readOn(owner, 0);
    const waiting = feedOf(owner).listEvents({ query: { after: String(position), waitMs: '25000' } });
    const event = anEvent(owner.ownerId);
    await write({ query: world.sql as never }, [event]);
    expect((await waiting).data.map(({ id }) => id)).toEqual([event.id]);
  });

  test('is answered without one at the end, and an agent is not woken for nothing by events of others', async () => {
    const payer = await aPayer(world);
    const { position } = await readOn(payer.owner, 0);
    const waiting = feedOf(world.as(payer.token)).listEvents({ query: { after: String(position), waitMs: '900' } });
    await write({ query: world.sql as never }, [anEvent(payer.owner.ownerId)]);
    const feed = await waiting;
    expect(feed).toMatchObject({ data: [], hasMore: false });
    expect(feed.position).toBeGreaterThanOrEqual(position);
  });

  /** Calls by one credential: as many wait as are allowed, and the others are answered at once. */
  async function asManyAsMay(url: string, bearer: string, after: number, places = 8) {
    const { listEvents } = createClient(eventsArea, sendTo(url, bearer));
    const answered: number[] = [];
    const calls = Array.from({ length: 9 }, async (_, index) => {
      const feed = await listEvents({ query: { after: String(after), waitMs: '25000' } });
      answered.push(index);
      return feed;
    });
    await eventually(
      async () => answered,
      ({ length }) => length >= 9 - places,
    );
    return { calls, waiting: () => calls.filter((_, index) => !answered.includes(index)) };
  }

  test('is one of eight of its agent and of twenty of its owner: more are answered at once, and all when the process stops', async () => {
    const payer = await aPayer(world);
    const sibling = await aPayer(world, { owner: payer.owner });
    const api = await world.secondApi();
    const { position } = await readOn(payer.owner, 0);
    const bearers = [
      [payer.token, 8],
      [sibling.token, 8],
      [payer.owner.key, 4],
    ] as const;
    const all: Promise<unknown>[] = [];
    for (const [bearer, places] of bearers) all.push(...(await asManyAsMay(api.url, bearer, position, places)).calls);
    await api.stop();
    for (const feed of await Promise.all(all)) expect(feed).toMatchObject({ data: [] });
  });

  test('shows nothing to a token that was revoked meanwhile', async () => {
    const { owner, agentId, token } = await aPayer(world);
    const { position } = await readOn(owner, 0);
    const { waiting } = await asManyAsMay(world.apiUrl, token, position);
    const calls = waiting();
    expect(calls).toHaveLength(8);
    await world.sql('update agent_tokens set revoked_at = now() where agent_id = $1', [agentId]);
    await write({ query: world.sql as never }, [anEvent(owner.ownerId, agentId)]);
    for (const [status] of await Promise.all(calls.map(refusalOf))) expect(status).toBe(401);
  });

  test('ends with its connection, and its place is free again', async () => {
    const { database, close } = await ownDatabase();
    const feed = eventFeed({ database, stopping: new AbortController().signal });
    const owner = await world.owner();
    const { position: after } = await readOn(owner, 0);
    const wait = (gone: AbortSignal) => feed({ ...asked, ownerId: owner.ownerId, after, waitMs: 3_600_000, gone });
    for (let round = 1; round <= 2; round++) {
      const gone = new AbortController();
      let answered = 0;
      const waiting = Array.from({ length: 9 }, () => wait(gone.signal).finally(() => answered++));
      await eventually(
        async () => answered,
        (number) => number > 0,
      );
      expect(answered).toBe(1);
      gone.abort();
      for (const one of await Promise.all(waiting)) expect(one.events).toEqual([]);
    }
    await close();
  });
});

const asked = { agentId: undefined, callerId: 'one caller', limit: 100, admitAgain: async () => undefined };

async function ownDatabase() {
  const orm = await openDatabase({
    url: world.config.DATABASE_URL,
    entities,
    poolSize: 1,
    applicationName: 'bursar-test',
  });
  return { database: databaseOf(orm), close: () => orm.close() };
}

test('a transaction of ours that does nothing is ended, because it would hold every feed back', async () => {
  const { database, close } = await ownDatabase();
  const row = z.object({ timeout: z.string() });
  const shown = `select current_setting('idle_in_transaction_session_timeout') as timeout`;
  expect(await oneRowOf(database.read(), row, shown)).toEqual({ timeout: '1min' });
  await close();
});

test('numbers are drawn singly, which the settled position relies on', async () => {
  const [sequence] = await world.sql<{ cache_size: string }>(
    `select cache_size from pg_sequences where sequencename = 'events_seq_seq'`,
  );
  expect(sequence?.cache_size).toBe('1');
});

describe('an agent', () => {
  let payer: Payer;
  beforeAll(async () => {
    payer = await aPayer(world);
  });

  test('gets what concerns it, the owner gets everything, another owner nothing', async () => {
    const { owner, agentId, token } = payer;
    const sibling = await aPayer(world, { owner });
    const { position: start } = await readOn(owner, 0);
    const body = { purpose: 'a book', expectedAmountEuros: 5, expectedMerchant: 'Sandbox Shop' };
    const intent = await world.as(token).client(intentsArea).declareIntent({ body });
    await world.as(sibling.token).client(intentsArea).declareIntent({ body });
    await write({ query: world.sql as never }, [anEvent(owner.ownerId)]);
    const all = (await feedOf(owner).listEvents({ query: { after: String(start) } })).data;
    expect(new Set(all.map((event) => event.agentId))).toEqual(new Set([agentId, sibling.agentId, null]));
    const { data } = await feedOf(world.as(token)).listEvents({ query: { after: String(start) } });
    expect(data).toEqual(all.filter((event) => event.agentId === agentId));
    expect(data[0]).toMatchObject({ event: 'intent.created', subjectId: intent.id, data: { id: intent.id } });
    const others = (await readOn(await world.owner(), start)).ids;
    expect(others.filter((id) => all.some((event) => event.id === id))).toEqual([]);
  });

  test('passes over any number of events of others, in bounded steps', async () => {
    const { owner, agentId, token } = payer;
    const { position: start } = await readOn(owner, 0);
    const own = anEvent(owner.ownerId, agentId);
    const others = Array.from({ length: 2_500 }, () => anEvent(owner.ownerId));
    await write({ query: world.sql as never }, [...others, own]);
    const first = await feedOf(world.as(token)).listEvents({ query: { after: String(start) } });
    expect(first).toMatchObject({ data: [], hasMore: true });
    expect((await readOn(world.as(token), start)).ids).toEqual([own.id]);
  });
});

test('the position goes on, also without events of the owner', async () => {
  const owner = await world.owner();
  const now = await feedOf(owner).listEvents({ query: { after: 'now' } });
  expect(now).toMatchObject({ data: [], hasMore: false });
  await write({ query: world.sql as never }, [anEvent((await world.owner()).ownerId)]);
  const later = await readOn(owner, now.position);
  expect(later.ids).toEqual([]);
  expect(later.position).toBeGreaterThan(now.position);
  const ahead = String(later.position + 1_000_000);
  expect((await feedOf(owner).listEvents({ query: { after: ahead } })).position).toBe(Number(ahead));
});

test.each([
  'after=-1',
  'after=1.5',
  'after=yesterday',
  'after=',
  'limit=0',
  'limit=101',
  'limit=x',
  'before=1',
  'waitMs=25001',
  'waitMs=x',
])('%s is refused', async (query) => {
  const owner = await world.owner();
  const answer = await owner.send({ method: 'GET', path: `/events?${query}`, headers: {} });
  expect(answer.status).toBe(400);
});

test('a token without events.read is refused', async () => {
  const payer = await aPayer(world);
  await world.sql(`update agent_tokens set scopes = '{intents.read}' where agent_id = $1`, [payer.agentId]);
  const [status] = await refusalOf(feedOf(world.as(payer.token)).listEvents({ query: {} }));
  expect(status).toBe(403);
});
