/**
 * Network messages have a ceiling of their own, and a flood of bad signatures from one address slows no good message.
 * Real HTTP, behind a trusted proxy that tells the addresses.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { signed } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  // 30 a second for each process, the ceiling shared among 100: fewer than a busy machine takes in a second.
  world = await startWorld({ env: { BURSAR_TRUSTED_PROXIES: '127.0.0.1', BURSAR_INSTANCES: '100' } });
});
afterAll(() => world.close());

const path = '/network/reversals';
const rawBody = JSON.stringify({ id: 'rev_1', authorizationId: 'auth_unknown', cardRef: 'cr_unknown' });
const send = async (client: string, key: string) => {
  const headers = {
    'Content-Type': 'application/json',
    'X-Forwarded-For': client,
    'X-Network-Signature': signed(key, { path, rawBody }),
  };
  const answer = await fetch(`${world.apiUrl}${path}`, { method: 'POST', headers, body: rawBody });
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text: await answer.text() };
};

test('ten bad signatures of an address are 401, further ones 429; good ones pass, from that address too', async () => {
  const attacker = '198.51.100.1';
  const statuses: number[] = [];
  for (let i = 0; i < 40; i++) statuses.push((await send(attacker, 'wrong key')).status);
  expect(statuses).toEqual([...Array(10).fill(401), ...Array(30).fill(429)]);
  const refused = await send(attacker, 'wrong key');
  expect(Number(refused.retryAfter)).toBeGreaterThan(0);
  expect(refused.text).toContain('bad network signatures');
  expect((await send('198.51.100.2', world.networkKey)).status).toBe(200);
  expect((await send(attacker, world.networkKey)).status).toBe(200);
  expect((await send('198.51.100.2', 'wrong key')).status).toBe(401);
});

test('a flood of bad signatures refuses no good message from another address', async () => {
  const flood = Promise.all(Array.from({ length: 200 }, () => send('198.51.100.4', 'wrong key')));
  for (let i = 0; i < 5; i++) expect((await send('198.51.100.3', world.networkKey)).status).toBe(200);
  expect((await flood).filter(({ status }) => status === 429)).toHaveLength(190);
});

test('more than the ceiling in a second is 429 with Retry-After, and passes a second later', async () => {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const answers = await Promise.all(Array.from({ length: 300 }, () => send('198.51.100.5', world.networkKey)));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]).toMatchObject({ retryAfter: '1', text: expect.stringContaining('30 messages in a second') });
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(30);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect((await send('198.51.100.5', world.networkKey)).status).toBe(200);
});
