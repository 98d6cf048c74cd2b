/**
 * Goal: lists, filters and cursors show a caller its own records only, and pages lose and repeat no row. Method: each
 * published list is read by its owner, a stranger and a sibling agent, with real ids in every filter and a real cursor;
 * then with `limit=1` after all its rows were given the same instant.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { idPrefixes } from '../../src/kernel/ids.ts';
import { theRecords } from '../support/factories/records.ts';
import {
  askedOf,
  discoverSamples,
  type OperationsWorld,
  type PublishedOperation,
  publishedOperations,
  send,
  startOperationsWorld,
  suiteLimitMs,
} from '../support/published-operations.ts';
import type { Owner } from '../support/world.ts';

/** By operation: several areas may have one tag. */
const samples = new Map(
  (await discoverSamples()).flatMap((one) => Object.keys(one.area.operations).map((name) => [name, one] as const)),
);

const queryOf = ({ operation: { query } }: PublishedOperation): Record<string, { pattern?: string }> =>
  query === undefined
    ? {}
    : ((z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' }).properties ?? {}) as Record<
        string,
        { pattern?: string }
      >);

const prefixes = Object.values(idPrefixes).map((prefix) => `^${prefix}_`);
const isIdFilter = ({ pattern }: { pattern?: string }) => prefixes.some((prefix) => pattern?.startsWith(prefix));

const isForBearers = ({ operation: { auth } }: PublishedOperation) => auth.includes('key') || auth.includes('agent');
const queried = publishedOperations.filter(
  (one) => isForBearers(one) && one.operation.method === 'get' && one.operation.query !== undefined,
);
const paged = queried.filter((one) => 'cursor' in queryOf(one));
const named = (list: readonly PublishedOperation[]) => list.map((one) => [one.name, one] as const);

let all: OperationsWorld;
let stranger: Owner;
let siblingToken: string;
/** Ids of the sibling agent's own records. */
let siblings: string[] = [];

beforeAll(async () => {
  all = await startOperationsWorld();
  await all.sampler.the(theRecords);
  // Each POST adds a row somewhere, so that lists have several.
  for (const one of publishedOperations.filter(({ operation }) => operation.method === 'post')) {
    for (let time = 0; time < 2; time++) await (await send(all, one, await askedOf(all, one.name))).arrayBuffer();
  }
  stranger = await all.world.owner();
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${all.world.apiUrl}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${all.owner.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Record<'id' | 'cardId' | 'policyId' | 'token', string>;
  };
  const { id, cardId, policyId } = await post('/agents', { name: 'sibling' });
  siblings = [id, cardId, policyId];
  siblingToken = (await post(`/agents/${id}/tokens`, {})).token;
}, suiteLimitMs);
afterAll(() => all.close());

type Page = { readonly data: readonly { readonly id?: string }[]; readonly nextCursor?: string | null };

async function get(one: PublishedOperation, query: Record<string, string>, token = all.owner.key) {
  const asked = await askedOf(all, one.name);
  const search = new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(asked.query)), ...query });
  const call = { ...asked, query: String(search), as: 'nobody' as const };
  const answer = await send(all, one, call, { Authorization: `Bearer ${token}` });
  return { status: answer.status, text: await answer.text() };
}

const idsIn = (text: string): string[] => text.match(/\b[a-z]{2,4}_[0-9a-z]{26}\b/g) ?? [];

/** What belongs to the owner as a whole, and each of its agents may see. */
const sharedWithAgents = /^(own|wal|cus|req|ben)_/;

async function showsNothing(one: PublishedOperation, query: Record<string, string>): Promise<void> {
  const mine = idsIn((await get(one, query)).text);
  for (const [who, token, shared] of [
    ['stranger', stranger.key, () => false],
    ['sibling', siblingToken, (id: string) => sharedWithAgents.test(id) || siblings.includes(id)],
  ] as const) {
    const { status, text } = await get(one, query, token);
    const seen = status === 200 ? idsIn(text).filter((id) => mine.includes(id) && !shared(id)) : [];
    expect([one.name, who, query, status, seen]).toEqual([one.name, who, query, expect.any(Number), []]);
    expect([200, 400, 403, 404]).toContain(status);
  }
}

describe.each(named(queried))('%s', (name, one) => {
  const filters = Object.entries(queryOf(one)).filter(([, schema]) => isIdFilter(schema));

  test('without a filter, another owner and a sibling agent get no row of the owner', async () => {
    await showsNothing(one, {});
  });

  for (const [filter] of filters)
    test(`nor filtered by ${filter}`, async () => {
      const make = samples.get(name)?.ids[filter];
      if (make === undefined) throw new Error(`the samples of ${one.area.tag} have no record for the filter ${filter}`);
      if (make === 'public') return;
      const value = await all.sampler.the(make);
      expect([name, filter, (await get(one, { [filter]: value })).status]).toEqual([name, filter, 200]);
      await showsNothing(one, { [filter]: value });
    });
});

const rowsOf = (page: Page): string[] => page.data.map((row) => JSON.stringify(row));

async function read(one: PublishedOperation, limit: number): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null | undefined;
  do {
    const { status, text } = await get(one, { limit: String(limit), ...(cursor ? { cursor } : {}) });
    expect([one.name, status]).toEqual([one.name, 200]);
    const page = JSON.parse(text) as Page;
    expect(page.data.length).toBeLessThanOrEqual(limit);
    found.push(...rowsOf(page));
    cursor = page.nextCursor;
  } while (cursor);
  return found;
}

test.each(named(paged))('%s: a cursor of the owner returns no row to another caller', async (_, one) => {
  const { text } = await get(one, { limit: '1' });
  const cursor = (JSON.parse(text) as Page).nextCursor;
  if (cursor) await showsNothing(one, { cursor });
});

describe('with all rows of the same instant', () => {
  beforeAll(async () => {
    // Rules about changes are in triggers; they do not apply to this arrangement.
    await all.world.sql(`do $$ declare t text; begin
      set local session_replication_role = replica;
      for t in select c.table_name from information_schema.columns c join information_schema.tables using (table_schema, table_name)
        where c.table_schema = 'public' and c.column_name = 'created_at' and c.data_type like 'timestamp%' and table_type = 'BASE TABLE'
      loop execute format('update %I set created_at = ''2026-01-02T03:04:05.678Z''', t); end loop;
    end $$`);
  }, suiteLimitMs);

  test.each(named(paged))('%s with limit=1 returns each row once', async (name, one) => {
    const whole = await read(one, 100);
    const single = await read(one, 1);
    expect(single).toEqual(whole);
    expect(new Set(single).size).toBe(single.length);
    if (!samples.get(name)?.shortLists.includes(name)) expect([name, single.length > 1]).toEqual([name, true]);
  });
});
