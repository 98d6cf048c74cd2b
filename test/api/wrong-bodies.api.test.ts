/**
 * Goal: a body that a contract refuses is a 400 with one sentence, whatever is wrong in it, and changes nothing. Method:
 * each operation of a real installation gets its documented example, changed in one place.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { problemOf } from '../../src/http/errors.ts';
import type { Operation } from '../../src/http/route.ts';
import { validated } from '../../src/http/validate.ts';
import { documented, exampleBodyOf } from '../support/documented-examples.ts';
import { registeredMerchant } from '../support/factories/merchants.ts';
import { mutated } from '../support/mutated-body.ts';
import { signed } from '../support/payments-world.ts';
import { publishedOperations } from '../support/published-operations.ts';
import { refusalMessage } from '../support/refusals.ts';
import { type Owner, startWorld, type World } from '../support/world.ts';

let world: World;
let owner: Owner;
let merchantKey: string;
beforeAll(async () => {
  world = await startWorld();
  owner = await world.owner();
  merchantKey = (await registeredMerchant(owner)).merchant_secret_key;
});
afterAll(() => world.close());

const withBody = publishedOperations.flatMap(({ name, operation, path }) => {
  const example = exampleBodyOf(name);
  const { body } = operation;
  return body === undefined || example === undefined ? [] : [{ name, operation, path, body, example }];
});

test.each(withBody)('$name refuses a wrong body with 400 and a sentence', async (one) => {
  const { name, operation, body, example } = one;
  const target = one.path.replace(/\{(\w+)\}/g, (_, parameter: string) => exampleOfPath(name, parameter));
  const wrong = mutated(example).filter((changed) => !body.safeParse(changed.body).success);
  const events = await countOfEvents();
  for (const { body: sent } of fc.sample(wrong, { numRuns: 8 })) {
    const rawBody = JSON.stringify(sent);
    const answer = await fetch(`${world.apiUrl}${target}`, {
      method: operation.method.toUpperCase(),
      headers: {
        'Content-Type': 'application/json',
        'Idempotency-Key': randomUUID(),
        ...credentialFor(operation, target, rawBody),
      },
      body: rawBody,
    });
    const message = refusalMessage(() => validated(body, 'body', JSON.parse(rawBody)));
    expect([answer.status, answer.headers.get('x-service-error-code'), await answer.json()]).toEqual([
      400,
      'invalid_request',
      operation.auth.includes('merchant')
        ? problemOf({ label: 'invalid_request', status: 400, message })
        : { error: message },
    ]);
  }
  expect(await countOfEvents()).toBe(events);
});

const exampleOfPath = (name: string, parameter: string): string =>
  String(documented(name)?.parameters.find((one) => one.in === 'path' && one.name === parameter)?.example);

function credentialFor({ auth }: Operation, path: string, rawBody: string): Record<string, string> {
  if (auth.includes('public')) return {};
  if (auth.includes('network')) return { 'X-Network-Signature': signed(world.networkKey, { path, rawBody }) };
  if (auth.includes('merchant')) return { 'X-Merchant-Key': merchantKey };
  if (auth.includes('key')) return { Authorization: `Bearer ${owner.key}` };
  return { 'X-Dashboard-Secret': world.dashboardSecret };
}

async function countOfEvents(): Promise<number> {
  const [row] = await world.sql<{ count: number }>('select count(*)::int as count from events');
  return row?.count ?? 0;
}
