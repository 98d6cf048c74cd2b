/**
 * Goal: a POST whose answer was lost may be sent again with its Idempotency-Key and acts once: the same ids, nothing
 * told twice, no money moved twice; the key of one request is refused for another. Method: every published POST
 * succeeds, its stored answer is emptied as if the process had died before keeping it, and it is sent again.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  discoverSamples,
  type OperationsWorld,
  publishedOperations,
  send,
  startOperationsWorld,
} from '../support/published-operations.ts';
import type { Asked } from '../support/samples.ts';

let all: OperationsWorld;
beforeAll(async () => {
  all = await startOperationsWorld();
}, 60_000);
afterAll(() => all.close());

/** Operations that act again, by the samples of their areas. */
const exempt = new Set((await discoverSamples()).flatMap(({ actsTwice }) => Object.keys(actsTwice)));

const posts = publishedOperations.filter(({ name, operation }) => operation.method === 'post' && !exempt.has(name));

// spec: header:POST /agents/*:Idempotency-Key
// spec: header:POST /intents/*:Idempotency-Key
// spec: header:POST /checkout/*:Idempotency-Key
// spec: header:POST /cards/*:Idempotency-Key
test.each(posts.map((one) => [one.name, one] as const))('%s', async (name, published) => {
  const asked: Asked = (await all.calls[name]?.()) ?? {};
  const key = asked.headers?.['Idempotency-Key'] ?? randomUUID();
  const ask = async () => {
    const answer = await send(all, published, asked, { 'Idempotency-Key': key });
    const body = await answer.text();
    return { status: answer.status, ids: idsIn(body), body };
  };
  const first = await ask();
  expect([first.status, first.body]).toEqual([published.operation.success.status, expect.anything()]);
  if (published.operation.pure !== true) expect(first.ids).not.toEqual([]);
  const once = await traces();
  await losesAnswer(key);
  const second = await ask();
  expect([second.status, second.ids]).toEqual([first.status, first.ids]);
  if (published.operation.auth.some((kind) => kind === 'key' || kind === 'agent')) {
    const other = { ...asked, body: { ...asked.body, anotherRequest: true } };
    expect((await send(all, published, other, { 'Idempotency-Key': key })).status).toBe(409);
  }
  expect(await traces()).toEqual(once);
});

test('what is exempt is a POST', () => {
  const names = publishedOperations.filter(({ operation }) => operation.method === 'post').map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...exempt]));
});

/** A network message carries its own id and has no row here. */
const losesAnswer = (key: string) =>
  all.world.sql(
    `update idempotency set status = null, body = null, body_is_sealed = false, reveal_until = null, lease_until = null
     where key = $1`,
    [key],
  );

const idsIn = (body: string): string[] => body.match(/"[a-z]{2,4}_[0-9a-z]{26}"/g) ?? [];

/** What has been told and booked so far, once it stands still. */
async function traces(): Promise<Record<string, unknown>> {
  let last = '';
  for (let same = 0; same < 5; ) {
    await new Promise((resolve) => setTimeout(resolve, 30));
    const now = JSON.stringify(await count());
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return JSON.parse(last);
}

async function count(): Promise<unknown> {
  const [counted] = await all.world.sql(
    `select (select count(*) from journals) as journals, (select count(*) from audit) as audits,
       (select count(*) from transactions) as transactions, (select count(*) from intents) as intents,
       (select count(*) from cards) as cards, (select count(*) from agents) as agents,
       (select jsonb_object_agg(name, n) from (select name, count(*) as n from events group by name) e) as events`,
  );
  return counted;
}
