/** The webhook receiver: raw bodies, programmed failures, limits. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startWorld, type World } from './world.ts';

type Kept = { receivedAt: string; headers: Record<string, string>; body: string; answered: number };
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const deliver = async (box: string, body: string, event?: string): Promise<number> => {
  const headers = { 'Content-Type': 'application/json', ...(event === undefined ? {} : { 'X-Service-Event': event }) };
  return (await fetch(`${world.url}/receiver/${box}`, { method: 'POST', headers, body })).status;
};
const kept = async (box: string) => (await world.send('GET', `/receiver/${box}`)).body.deliveries as Kept[];

test('a delivery is stored byte for byte with its headers', async () => {
  const raw = '{ "b":1,\n  "a": "é €" , "a":2 }';
  expect(await deliver('raw', raw, 'intent.approved')).toBe(200);
  expect(await deliver('raw', 'not json')).toBe(200);
  expect(await deliver('raw', '')).toBe(200);
  const all = await kept('raw');
  expect(all.map(({ body }) => body)).toEqual([raw, 'not json', '']);
  expect(all[0]).toMatchObject({ answered: 200, headers: { 'x-service-event': 'intent.approved' } });
  expect(await kept('empty')).toEqual([]);
});

test('programmed failures are answered that often, and stored with their answers', async () => {
  await world.send('PUT', '/receiver/fails/failures', { count: 2, status: 503 });
  expect([await deliver('fails', 'a'), await deliver('fails', 'b'), await deliver('fails', 'c')]).toEqual([
    503, 503, 200,
  ]);
  expect((await kept('fails')).map(({ answered }) => answered)).toEqual([503, 503, 200]);
  expect(await deliver('other', 'a')).toBe(200);
});

test('a failure for one event leaves the others alone and comes before the general one', async () => {
  await world.send('PUT', '/receiver/named/failures', { count: 1, status: 410, event: 'card.issued' });
  expect(await deliver('named', 'a', 'agent.created')).toBe(200);
  await world.send('PUT', '/receiver/named/failures', { count: 1, status: 500 });
  expect(await deliver('named', 'b', 'card.issued')).toBe(410);
  expect(await deliver('named', 'c', 'card.issued')).toBe(500);
  expect(await deliver('named', 'd', 'card.issued')).toBe(200);
});

test('a new program replaces the old one, and count 0 ends it', async () => {
  await world.send('PUT', '/receiver/again/failures', { count: 9, status: 500 });
  await world.send('PUT', '/receiver/again/failures', { count: 1, status: 429 });
  expect(await deliver('again', 'a')).toBe(429);
  expect(await deliver('again', 'b')).toBe(200);
  await world.send('PUT', '/receiver/again/failures', { count: 5, status: 500 });
  await world.send('PUT', '/receiver/again/failures', { count: 0, status: 500 });
  expect(await deliver('again', 'c')).toBe(200);
});

test('limits: body size, box names, statuses, and how many a box keeps', async () => {
  expect(await deliver('big', 'x'.repeat(64 * 1024))).toBe(200);
  expect(await deliver('big', 'x'.repeat(64 * 1024 + 1))).toBe(413);
  expect(await kept('big')).toHaveLength(1);
  expect(await deliver('no.dots', 'a')).toBe(400);
  expect((await world.send('PUT', '/receiver/x/failures', { count: 1, status: 200 })).status).toBe(400);
  expect((await world.send('PUT', '/receiver/x/failures', { count: -1, status: 500 })).status).toBe(400);
  for (let i = 0; i < 1_005; i++) await deliver('full', String(i));
  const all = await kept('full');
  expect([all.length, all[0]?.body, all.at(-1)?.body]).toEqual([1_000, '5', '1004']);
});
