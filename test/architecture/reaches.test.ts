/**
 * Goal: no operation can omit the check of owner and agent. Method: every id in every contract is looked up by the
 * edge or has a reasoned exception; handlers have no means to check by themselves; the check refuses as documented.
 * @module
 */
import { glob, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import * as z from 'zod';
import { idFieldsOf, type Lookups, reachingOf } from '../../src/http/reaches.ts';
import type { Operation } from '../../src/http/route.ts';
import { id } from '../../src/http/schemas.ts';
import { newId } from '../../src/kernel/ids.ts';
import { publishedAreas } from '../../src/main/modules/index.ts';

const operations = publishedAreas.flatMap((area) =>
  Object.entries(area.operations).map(([name, operation]: [string, Operation]) => ({ name, operation })),
);

test('handlers do not compare owners or agents themselves', async () => {
  const found: string[] = [];
  for await (const path of glob('src/domains/**/*.routes.ts')) {
    if (/\b(?:mayReach|ownOf|ownerOf|agentOf)\(/.test(await readFile(path, 'utf8'))) found.push(path);
  }
  expect(found).toEqual([]);
});

test('an exception names an id of the operation, and a reason', () => {
  const wrong = operations.flatMap(({ name, operation }) => {
    const paths = idFieldsOf(operation).map(({ path }) => path);
    return Object.entries(operation.reaches ?? {})
      .filter(([path, reach]) => !paths.includes(path) || (reach !== 'filter' && reach.elsewhere.length < 20))
      .map(([path]) => `${name} ${path}`);
  });
  expect(wrong).toEqual([]);
});

test('only lists have ids that filter', () => {
  const wrong = operations.flatMap(({ name, operation }) =>
    Object.entries(operation.reaches ?? {})
      .filter(([path, reach]) => reach === 'filter' && !(operation.method === 'get' && path.startsWith('query.')))
      .map(() => name),
  );
  expect(wrong).toEqual([]);
});

test('an operation without an owner has no id of a record', () => {
  const actsForOwner = ({ auth, ownerless }: Operation) =>
    ownerless !== true && auth.some((kind) => kind === 'key' || kind === 'agent' || kind === 'dashboard');
  const wrong = operations.filter(({ operation }) => !actsForOwner(operation) && idFieldsOf(operation).length > 0);
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

const body = z.strictObject({
  deep: z
    .strictObject({ intents: z.array(id('intent')).optional() })
    .nullable()
    .optional(),
  other: z.union([z.strictObject({ intentId: id('intent') }), z.strictObject({ none: z.boolean() })]).optional(),
});

test('ids are found at every depth, in lists and in unions', () => {
  expect(idFieldsOf({ body }).map(({ path }) => path)).toEqual(['body.deep.intents', 'body.other.intentId']);
});

test('an id without a lookup does not start', () => {
  expect(() => reachingOf('test', { body }, {})).toThrow('test: no area looks up the intent of body.deep.intents');
});

const [mine, siblings, strangers] = [newId('intent'), newId('intent'), newId('intent')];
const own = { ownerId: newId('owner'), agentId: newId('agent') };
const rows = new Map<string, { ownerId: string; agentId: string }>([
  [mine, own],
  [siblings, { ownerId: own.ownerId, agentId: newId('agent') }],
  [strangers, { ownerId: newId('owner'), agentId: own.agentId }],
]);
const lookups = { intent: async (one: string) => rows.get(one) ?? null } as unknown as Lookups;

test.each([
  ['its own', mine, undefined],
  ["a sibling's", siblings, 'agent_isolation'],
  ["a stranger's", strangers, 'not_found'],
  ['an unknown', newId('intent'), 'not_found'],
])('an agent that names %s record', async (_whose, one, code) => {
  const reaching = reachingOf('test', { body }, lookups);
  for (const value of [{ deep: { intents: [mine, one] } }, { deep: null, other: { intentId: one } }]) {
    const asked = reaching?.({ params: {}, query: {}, body: value }, own);
    if (code === undefined) await expect(asked).resolves.toEqual({ intent: own });
    else await expect(asked).rejects.toMatchObject({ code });
  }
});

test('a record that several fields name is looked up once', async () => {
  const asked: string[] = [];
  const counting = {
    intent: async (one: string) => {
      asked.push(one);
      return rows.get(one) ?? null;
    },
  } as unknown as Lookups;
  const variant = (kind: string) => z.strictObject({ kind: z.literal(kind), intentId: id('intent') });
  const either = z.union([variant('one'), variant('other')]);
  const reaching = reachingOf('test', { params: z.strictObject({ id: id('intent') }), body: either }, counting);
  await reaching?.({ params: { id: mine }, query: {}, body: { kind: 'one', intentId: mine } }, own);
  expect(asked).toEqual([mine]);
});

test('a key reaches the records of every agent of its owner', async () => {
  const reaching = reachingOf('test', { body }, lookups);
  const ofOwner = { ownerId: own.ownerId, agentId: undefined };
  const asked = { params: {}, query: {}, body: { deep: { intents: [mine, siblings] } } };
  await expect(reaching?.(asked, ofOwner)).resolves.toBeDefined();
});

test('a list filtered by another agent is refused to an agent', async () => {
  const query = z.strictObject({ agentId: id('agent').optional() });
  const reaching = reachingOf('test', { query, reaches: { 'query.agentId': 'filter' } }, {});
  const asked = (agentId: string) => reaching?.({ params: {}, query: { agentId }, body: undefined }, own);
  await expect(asked(newId('agent'))).rejects.toMatchObject({ code: 'agent_isolation' });
  await expect(asked(own.agentId)).resolves.toEqual({});
});
