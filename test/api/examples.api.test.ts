/**
 * Goal: every example of the document can be sent as it stands. Method: each operation is called on a real installation
 * with the example of its body and query; ids of records become those of real ones, and what only a device or an
 * outside service can make is taken from the sample call. An example that is refused fails.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { exampleId, type IdKind, idPrefixes } from '../../src/kernel/ids.ts';
import { documented } from '../support/documented-examples.ts';
import { theRecords } from '../support/factories/records.ts';
import { signed } from '../support/payments-world.ts';
import {
  askedOf,
  type OperationsWorld,
  type PublishedOperation,
  publishedOperations,
  send,
  startOperationsWorld,
  suiteLimitMs,
} from '../support/published-operations.ts';
import type { Asked } from '../support/samples.ts';

/**
 * Left out where the sample call has none: it needs no passkey, an approver of its subject changes nothing, and a device
 * subscribes with the current key.
 */
const onlyAsSampled = ['webauthnAssertion', 'changes', 'publicKey'];

/** Made by a passkey, a push service, the card network, a shop or a merchant, or bound to this installation. */
const borrowed = [
  ...['webauthnAssertion', 'attestation', 'challengeId', 'challenge', 'targetUrl', 'url', 'cardRef', 'authorizationId'],
  ...['account', 'proof', 'expectedPayee', 'endpoint'],
];

let all: OperationsWorld;
let records: Awaited<ReturnType<typeof theRecords>>;
beforeAll(async () => {
  all = await startOperationsWorld();
  records = await all.sampler.the(theRecords);
}, suiteLimitMs);
afterAll(() => all.close());

const kindOf = new Map(Object.keys(idPrefixes).map((kind) => [exampleId(kind as IdKind) as string, kind]));

/** `value` with the ids of real records; a field of the sample call goes first. */
function real(value: unknown, name: string, sample: Record<string, unknown>): unknown {
  if (borrowed.includes(name) && name in sample) return sample[name];
  if (typeof value === 'string' && kindOf.has(value)) {
    const known = { ...records, ownerId: all.owner.ownerId } as Record<string, unknown>;
    return sample[name] ?? known[`${kindOf.get(value)}Id`] ?? value;
  }
  if (Array.isArray(value)) return value.map((one) => real(one, name, {}));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !onlyAsSampled.includes(key) || key in sample);
  return Object.fromEntries(kept.map(([key, one]) => [key, real(one, key, sample)]));
}

function withExample({ name, operation, path }: PublishedOperation, asked: Asked): Asked {
  const { parameters = [], requestBody } = documented(name) ?? {};
  const inQuery = new URLSearchParams(asked.query);
  const query = parameters
    .filter((one) => one.in === 'query')

    .map((one): [string, string] => [one.name, String(real(one.example, one.name, Object.fromEntries(inQuery)))]);
  const example = requestBody?.content['application/json']?.example;
  const body = example === undefined ? undefined : (real(example, '', { ...asked.body }) as object);
  return {
    ...asked,
    ...(query.length === 0 ? {} : { query: new URLSearchParams(Object.fromEntries(query)).toString() }),
    ...(body === undefined ? {} : { body }),
    headers: { ...asked.headers, ...(operation.auth.includes('network') ? signatureOf(path, body) : {}) },
  };
}

const signatureOf = (path: string, body: object | undefined): Record<string, string> => ({
  'X-Network-Signature': signed(all.world.networkKey, { path, rawBody: JSON.stringify(body) }),
});

const withExamples = publishedOperations.filter(({ name, operation }) => {
  const { parameters = [] } = documented(name) ?? {};
  return operation.body !== undefined || parameters.some((one) => one.in === 'query');
});

test.each(withExamples.map((one) => [one.name, one] as const))('%s accepts its example', async (name, one) => {
  const asked = withExample(one, await askedOf(all, name));
  const answer = await send(all, one, asked);
  const { success } = one.operation;
  const text = await answer.text();
  const isAccepted = [success.status, ...(success.also ?? [])].includes(answer.status);
  expect([answer.status, isAccepted ? '' : `${text} for ${JSON.stringify(asked)}`]).toEqual([answer.status, '']);
});
