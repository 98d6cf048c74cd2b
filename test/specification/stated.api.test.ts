/**
 * Goal: fields and limits that the specification gives in tables and lists are kept. Method: the cases are the facts
 * themselves, so that a new row is a new case; each is asked of a real installation.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type OperationsWorld,
  publishedOperations,
  send,
  startOperationsWorld,
  suiteLimitMs,
} from '../support/published-operations.ts';
import type { Asked } from '../support/samples.ts';
import { requestPath } from './contracts.ts';
import { type Claim, read, type Shape, specification } from './facts.ts';
import { isBuilt } from './not-built-yet.ts';

let all: OperationsWorld;
beforeAll(async () => {
  all = await startOperationsWorld();
}, suiteLimitMs);
afterAll(() => all.close());

const built = read(specification).facts.filter(isBuilt);
const claims = <Kind extends Claim['kind']>(kind: Kind) =>
  built.flatMap(({ id, claim }) =>
    claim.kind === kind ? [[id, claim as Extract<Claim, { kind: Kind }>] as const] : [],
  );

type Answered = { readonly status: number; readonly body: Record<string, unknown> };

/** The operation's own successful call, with its body changed. */
async function ask(operation: string, change: (body: object) => object = (body) => body): Promise<Answered> {
  const [method, path] = operation.split(' ');
  const published = publishedOperations.find(
    (one) => one.path === path && one.operation.method.toUpperCase() === method,
  );
  if (published === undefined) throw new Error(`no area serves ${operation}`);
  const asked: Asked = (await all.calls[published.name]?.()) ?? {};
  const answer = await send(all, published, { ...asked, body: change(asked.body ?? {}) });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const successes = new Map<string, Promise<Answered>>();

/** What an operation answers when all is well; asked once. */
function success(operation: string): Promise<Answered> {
  const known = successes.get(operation);
  const asked =
    known ?? ask(operation, (usual) => (operation === 'POST /policies' ? { ...usual, ...wholePolicy } : usual));
  successes.set(operation, asked);
  return asked;
}

// spec: answer:*
test.each(claims('answer'))('%s', async (_, { operation, name }) => {
  const { status, body } = await success(operation);
  expect([status < 300, Object.keys(body)]).toEqual([true, expect.arrayContaining([name])]);
});

// spec: body:*
test.each(claims('body'))('%s is read: a value that cannot be one is refused by its name', async (_, claim) => {
  const place = requestPath(claim.operation, claim.name);
  const wrong = place.reduceRight<unknown>((inner, part) => ({ [part]: inner }), [true]) as object;
  const { status, body } = await ask(claim.operation, (usual) => ({ ...usual, ...wrong }));
  expect([status, body.error]).toEqual([400, expect.stringContaining(`body.${place.join('.')}`)]);
});

/** A policy with a value in each field. */
const wholePolicy = {
  maxTransactionEuros: 1.5,
  dailyLimitEuros: 2,
  monthlyLimitEuros: 3,
  autoApproveLimitEuros: 1,
  cooldownMinutes: 1,
  expiresAfterMinutes: 5,
  expirationAction: 'notify',
  activeHoursStart: 0,
  activeHoursEnd: 23,
  maxUsageCount: 9,
  amountTolerancePercent: 2.5,
};

const answeredBy: Readonly<Record<string, string>> = {
  NewWebhook: 'POST /webhooks',
  ConfirmedCheckout: 'POST /checkout/confirm',
  Policy: 'POST /policies',
};
const shapes = claims('field').map(([id, { shape }]) => [id, shape] as const);

// spec: field:Webhook subscription.*
// spec: field:Checkout confirm result.*
// spec: field:Policy.*
test.each(shapes.filter(([, { schema }]) => schema in answeredBy))('%s is answered', async (_, shape) => {
  const { status, body } = await success(answeredBy[shape.schema] ?? '');
  expect(status).toBeLessThan(300);
  expect(Object.keys(body)).toContain(shape.name);
  if (shape.type !== undefined) expect([shape, fits(body[shape.name], shape)]).toEqual([shape, true]);
});

function fits(value: unknown, { type = '', nullable, schema }: Shape): boolean {
  // What an agent's policy has, a template has not.
  if (value === null) return nullable === true || schema === 'Policy';
  if (type === 'array of string') return Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (type === 'string, date-time') return new Date(value as string).toISOString() === value;
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

const policyFields = shapes.filter(([, { schema }]) => schema === 'PolicyCreateRequest');

// spec: field:PolicyCreateRequest.*
test.each(policyFields)('the service meets: %s', async (_, shape) => {
  const create = (value: unknown) => ask('POST /policies', () => ({ name: 'a name', [shape.name]: value }));
  for (const value of valuesOf(shape)) {
    const { status, body } = await create(value);
    expect([shape.name, value, status, body[shape.name]]).toEqual([shape.name, value, 201, value]);
  }
  for (const value of [...strangersTo(shape), ...(shape.nullable === true ? [] : [null])]) {
    const { status, body } = await create(value);
    expect([value, status, body.error]).toEqual([value, 400, expect.stringContaining(`body.${shape.name}`)]);
  }
});

/** Values that fit, those on the edge of the constraint among them. */
function valuesOf({ name, type = '', nullable, constraint = '' }: Shape): unknown[] {
  const [low, high] = bounds(constraint);
  const choices = /^one of (.+)$/.exec(constraint)?.[1]?.split(', ');
  const samples: Readonly<Record<string, unknown[]>> = {
    string: choices ?? (name === 'expirationAction' ? ['freeze'] : ['x']),
    number: [low ?? 1, 2.25],
    integer: [low ?? 1, high ?? 7],
    boolean: [true, false],
    'array of string': [[], [sampleWord(name)]],
  };
  return [...(samples[type] ?? []), ...(nullable === true ? [null] : [])];
}

const sampleWord = (name: string): string => {
  if (/Mccs$/.test(name)) return '5942';
  if (/Countries$/.test(name)) return 'DE';
  return /^mccCategories$/.test(name) ? 'airlines' : 'example.com';
};

function strangersTo({ type = '', constraint = '' }: Shape): unknown[] {
  const [low, high] = bounds(constraint);
  const wrongType = type === 'string' ? [7] : type === 'array of string' ? ['x', [7]] : ['x', [1]];
  return [
    ...wrongType,
    ...(low === undefined ? [] : [low - 1]),
    ...(high === undefined ? [] : [high + 1]),
    ...(type === 'integer' ? [1.5] : []),
    ...(constraint === 'required' ? [undefined] : []),
    ...(constraint === 'minLength 1' ? [''] : []),
    ...(constraint.startsWith('one of ') ? ['something else'] : []),
  ];
}

function bounds(constraint: string): [number | undefined, number | undefined] {
  const [, least] = /^minimum (\d+)$/.exec(constraint) ?? [];
  const [, low, high] = /^(\d+) to (\d+)$/.exec(constraint) ?? [];
  const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  return [number(least ?? low), number(high)];
}
