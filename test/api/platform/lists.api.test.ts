/**
 * Goal: no query string makes a list fail: whatever stands in `cursor`, `limit`, `from`, `to` or under another name is
 * understood as documented or refused with 400. Method: every list of the OpenAPI document, over real HTTP.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openApiDocument } from '../../../src/dev/documents.ts';
import { period } from '../../../src/http/schemas.ts';
import { registeredMerchant } from '../../support/factories/merchants.ts';
import { aPayer, networkOf } from '../../support/payments-world.ts';
import {
  askedOf,
  type OperationsWorld,
  publishedOperations,
  startOperationsWorld,
  suiteLimitMs,
} from '../../support/published-operations.ts';

type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  schema: { pattern?: string; enum?: string[] };
  description?: string;
  example?: string;
};
type Described = { operationId: string; parameters?: Parameter[]; security: Record<string, unknown>[] };

const { paths } = openApiDocument() as { paths: Record<string, Record<string, Described>> };
const gets = Object.entries(paths).flatMap(([path, methods]) => (methods.get ? [{ path, ...methods.get }] : []));
const takes = (name: string) => gets.filter(({ parameters = [] }) => parameters.some((one) => one.name === name));
const lists = takes('cursor');
const namesOf = (found: readonly Described[]) => found.map(({ operationId }) => operationId);

/** Paths of the lists that no owner may read. */
const forOperators = new Set(
  publishedOperations
    .filter(({ operation: { auth } }) => auth.every((kind) => kind === 'dashboard'))
    .map(({ path }) => path),
);

let all: OperationsWorld;
/** By path of the list, with ids of the owner's records instead of parameters, and with the query that it requires. */
const filled = new Map<string, string>();
beforeAll(async () => {
  all = await startOperationsWorld();
  for (const { operationId, path, parameters = [] } of lists) {
    // The sample call of a list makes two rows.
    const { path: ids = {}, query } = await askedOf(all, operationId);
    const required = [...new URLSearchParams(query)].filter(([name]) =>
      parameters.some((one) => one.name === name && one.required),
    );
    const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'missing');
    filled.set(path, `${place}?${new URLSearchParams(required)}`);
  }
}, suiteLimitMs);
afterAll(() => all.close());

/** `query` is sent as it stands. */
async function get(path: string, query: string, key = all.owner.key): Promise<{ status: number; text: string }> {
  const place = filled.get(path) ?? `${path}?`;
  const answer = await fetch(`${all.world.apiUrl}${place}${place.endsWith('?') ? '' : '&'}${query}`, {
    headers: forOperators.has(path)
      ? { 'X-Dashboard-Secret': all.world.dashboardSecret }
      : { Authorization: `Bearer ${key}` },
  });
  return { status: answer.status, text: await answer.text() };
}

/** A known name, a well-formed id that is unknown, or any text where neither is asked for. */
const exampleOf = (parameter: Parameter | undefined): string =>
  parameter?.schema.enum?.[0] ?? `${/^\^([a-z]+_)\[/.exec(parameter?.schema.pattern ?? '')?.[1] ?? ''}aaaaaaaaaaaaaaaa`;

const cursor = (text: string): string => `cursor=${encodeURIComponent(Buffer.from(text).toString('base64url'))}`;

test('each list answers here, so that a refusal below is about the query', async () => {
  expect(lists.length).toBeGreaterThan(8);
  for (const { path, operationId } of lists) {
    expect([operationId, (await get(path, 'limit=1')).status]).toEqual([operationId, 200]);
  }
});

/** One character more than a multiple of four encodes nothing. */
const ofImpossibleLength = (base64: string): string => base64.slice(0, Math.floor((base64.length - 2) / 4) * 4 + 1);

const at = '2026-01-01T00:00:00.000Z';
const hostile = (prefix: string): string[] => [
  ...[
    `2026-02-30T00:00:00.000Z|${prefix}_aaaaaaaaaaaaaaaa`,
    `2026-13-01T00:00:00.000Z|${prefix}_aaaaaaaaaaaaaaaa`,
    `2026-01-01T24:00:00.000Z|${prefix}_aaaaaaaaaaaaaaaa`,
    `2026-01-01T00:00:00Z|${prefix}_aaaaaaaaaaaaaaaa`,
    `0000-01-01T00:00:00.000Z|${prefix}_aaaaaaaaaaaaaaaa`,
    `+275760-09-13T00:00:00.000Z|${prefix}_aaaaaaaaaaaaaaaa`,
    `2026-01-01T00:00:00.${'0'.repeat(40)}Z|${prefix}_aaaaaaaaaaaaaaaa`,
    `${at}|${prefix}_`,
    `${at}|${prefix}_aaaaaaaa\u0000aaaaaaaa`,
    `${at}|${prefix}_aaaaaaaaaaaaaaaa\u0000`,
    `${at}|${prefix}_${'9'.repeat(80)}`,
    `${at}|sequence_${'9'.repeat(40)}`,
    `${at}|window_${'9'.repeat(40)}`,
    `${at}|sequence_-1`,
    `${at}|le_99`,
    `${at}|zzz_aaaaaaaaaaaaaaaa`,
    `${at}|${prefix}_aaaaaaaaaaaaaaaa|more`,
    `${at}|'; drop table agents; --`,
    `${at}|`,
    at,
    '|',
    '\u0000',
  ].map(cursor),
  `cursor=${ofImpossibleLength(Buffer.from(`${at}|${prefix}_aaaaaaaaaaaaaaaa`).toString('base64url'))}`,
  `cursor=${Buffer.from(`${at}|${prefix}_aaaaaaaaaaaaaaaa`).toString('base64url')}A`,
  `cursor=%20${Buffer.from(`${at}|${prefix}_aaaaaaaaaaaaaaaa`).toString('base64url')}`,
  `cursor=${Buffer.from(`${at}|${prefix}_aaaaaaaaaaaaaaaaaa`).toString('base64')}%3D`,
  'cursor=',
  'cursor=%00',
  'cursor=%ED%A0%80',
  'cursor=%FF',
  'cursor=%',
  `cursor=${'A'.repeat(5_000)}`,
  `${cursor(`${at}|${prefix}_aaaaaaaaaaaaaaaa`)}&${cursor(`${at}|${prefix}_aaaaaaaaaaaaaaaa`)}`,
];

/** The prefix of the ids in the list's cursors, by the published example of one. */
function prefixOf({ operationId, parameters = [] }: (typeof lists)[number]): string {
  const example = parameters.find(({ name }) => name === 'cursor')?.example ?? '';
  const prefix = /\|([a-z]+)_/.exec(Buffer.from(example, 'base64url').toString())?.[1];
  if (prefix === undefined) throw new Error(`${operationId} publishes no example of a cursor`);
  return prefix;
}

test.each(lists.map((one) => [one.operationId, one.path, prefixOf(one)] as const))(
  'a hostile cursor of %s is 400',
  async (_name, path, prefix) => {
    const failed = [];
    for (const query of hostile(prefix)) {
      const { status, text } = await get(path, query);
      if (status !== 400 || !/"error":"query[^"]*"/.test(text)) failed.push([query, status, text]);
    }
    expect(failed).toEqual([]);
  },
);

/** Lists of the same records: a cursor names a record, and means the same in both. */
const sharedCursors = [['listWebhookDeliveries', 'listDeadLetters']];

test('a cursor of a list of other records is 400, and one of the same records continues it', async () => {
  const cursors = new Map<string, string>();
  for (const { path, operationId } of lists) {
    const { nextCursor } = JSON.parse((await get(path, 'limit=1')).text) as { nextCursor: string | null };
    if (nextCursor !== null) cursors.set(operationId, nextCursor);
  }
  expect(cursors.size).toBeGreaterThan(4);
  const wrong = [];
  for (const { path, operationId } of lists) {
    for (const [from, nextCursor] of cursors) {
      const { status } = await get(path, `cursor=${nextCursor}`);
      const isOfTheSame =
        from === operationId || sharedCursors.some((names) => names.includes(from) && names.includes(operationId));
      if (status !== (isOfTheSame ? 200 : 400)) wrong.push([operationId, from, status]);
    }
  }
  expect(wrong).toEqual([]);
});

test('a limit that is not decimal digits, out of range or given twice is 400', async () => {
  const limits = ['1e1', '0x10', ' 5', '5 ', '+5', '5.0', '-5', '', 'ten', '٥', '0', '101', '9'.repeat(400), 'NaN'];
  const queries = [
    ...limits.map((limit) => `limit=${encodeURIComponent(limit)}`),
    'limit=1&limit=2',
    'limit=+5',
    'limit',
  ];
  const failed = [];
  for (const { path, operationId } of lists) {
    for (const query of queries) {
      const { status, text } = await get(path, query);
      if (status !== 400 || !text.includes('query.limit')) failed.push([operationId, query, status, text]);
    }
    for (const query of ['limit=1', 'limit=100', 'limit=007']) {
      const { status } = await get(path, query);
      if (status !== 200) failed.push([operationId, query, status]);
    }
  }
  expect(failed).toEqual([]);
});

/** Those of sealed records go by the instant of sealing, and have tests of their own. */
const withPeriods = takes('from').filter(
  ({ parameters = [] }) =>
    !parameters.some(({ name, description = '' }) => name === 'from' && /\bsealed\b/.test(description)),
);

test('from and to take an instant or a date, on every list that has them, and say so', async () => {
  expect(namesOf(takes('from'))).toEqual(namesOf(takes('to')));
  const shared = publishedOperations.filter(
    ({ operation: { query } }) => query?.shape.from === period.from && query?.shape.to === period.to,
  );
  expect(namesOf(withPeriods).sort()).toEqual(shared.map(({ name }) => name).sort());
  expect(withPeriods.length).toBeGreaterThan(3);
  for (const { path, operationId, parameters = [] } of withPeriods) {
    for (const name of ['from', 'to']) {
      const found = parameters.find((one) => one.name === name);
      expect([operationId, found?.schema]).toEqual([
        operationId,
        expect.objectContaining({
          anyOf: [expect.objectContaining({ format: 'date-time' }), { type: 'string', format: 'date' }],
        }),
      ]);
      expect(found?.description).toMatch(/UTC day/);
      for (const good of [
        '2026-11-20',
        '2024-02-29',
        '2026-11-20T10:00:00Z',
        '2026-11-20T10:00:00.123%2B02:00',
        '9999-12-31',
        '0001-01-01',
      ]) {
        expect([operationId, name, good, (await get(path, `${name}=${good}`)).status]).toEqual([
          operationId,
          name,
          good,
          200,
        ]);
      }
      for (const bad of [
        '2026-02-30',
        '2026-2-3',
        '20261120',
        'today',
        '1700000000',
        '2026-11-20T10:00',
        '',
        '0000-01-01',
        '%2B275760-09-13',
      ]) {
        const { status, text } = await get(path, `${name}=${bad}`);
        expect([operationId, name, bad, status, text]).toEqual([
          operationId,
          name,
          bad,
          400,
          expect.stringContaining(`query.${name}: must be an instant`),
        ]);
      }
    }
  }
});

test('a date means the whole UTC day, at both ends', async () => {
  // Of a free plan only the last 30 days are shown.
  const [before, day, after] = [6, 5, 4].map((days) =>
    new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10),
  );
  const { world } = all;
  const payer = await aPayer(world);
  const network = networkOf(world);
  for (const _ of [1, 2]) await network.authorize(payer, { amountCents: 100 });
  const mine = await world.sql<{ id: string }>('select id from transactions where owner_id = $1 order by id', [
    payer.owner.ownerId,
  ]);
  const times = [`${day}T00:00:00.000Z`, `${day}T23:59:59.999Z`];
  for (const [index, { id }] of mine.entries()) {
    await world.sql('update transactions set created_at = $2 where id = $1', [id, times[index]]);
  }
  const shown = async (query: string) =>
    (JSON.parse((await get('/transactions', query, payer.owner.key)).text) as { data: unknown[] }).data.length;
  expect(mine).toHaveLength(2);
  expect(await shown(`from=${day}&to=${day}`)).toBe(2);
  expect(await shown(`from=${day}T00:00:00Z&to=${day}T23:59:59.999Z`)).toBe(1);
  expect(await shown(`to=${before}`)).toBe(0);
  expect(await shown(`from=${after}`)).toBe(0);
  expect(await shown(`to=${day}`)).toBe(2);
});

test('an unknown query parameter is refused by name on every operation, and a near one is suggested', async () => {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method, parameters: [], ...described })),
  );
  const { merchant_secret_key: merchantKey } = await registeredMerchant(all.owner);
  const failed = [];
  for (const { path, method, operationId, parameters, security } of operations) {
    const isNetwork = path.startsWith('/network/');
    const accepts = (kind: string): boolean => security.some((one) => kind in one);
    const credential: Record<string, string> = accepts('key')
      ? { Authorization: `Bearer ${all.owner.key}` }
      : accepts('merchant')
        ? { 'X-Merchant-Key': merchantKey }
        : { 'X-Dashboard-Secret': all.world.dashboardSecret, 'X-Owner-Id': all.owner.ownerId };
    const wanted = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      exampleOf(parameters.find((one) => one.name === name)),
    );
    const answer = await fetch(`${all.world.apiUrl}${wanted}?unheardOf=${randomUUID()}`, {
      method: method.toUpperCase(),
      headers: { ...credential, 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() },
      ...(method === 'get' ? {} : { body: '{}' }),
    });
    const text = await answer.text();
    if (isNetwork && answer.status === 401) continue; // The signature is evaluated first.
    if (answer.status !== 400 || !text.includes('unknown parameter unheardOf'))
      failed.push([operationId, answer.status, text]);
  }
  expect(failed).toEqual([]);
  for (const { path } of lists)
    expect((await get(path, 'limt=5')).text).toContain('unknown parameter limt; did you mean limit?');
  expect((await get('/transactions', 'agentid=x')).text).toContain('unknown parameter agentid; did you mean agentId?');
  expect((await get('/transactions', 'zzzzzzzz=x')).text).not.toContain('did you mean');
  const secret = 'x'.repeat(40);
  expect((await get('/transactions', `${secret}=1`)).text).not.toContain(secret);
});
