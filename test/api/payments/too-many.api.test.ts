/**
 * More authorizations than may wait: what comes then is answered 503 before its signature is verified, holds nothing, and
 * is booked by the advice of what the network decided instead. Real HTTP; the queue is filled while another transaction
 * holds the table of messages.
 * @module
 */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import {
  type Authorized,
  aPayer,
  balancesOf,
  brokenInvariants,
  networkOf,
  type Payer,
  signed,
} from '../../support/payments-world.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
let network: ReturnType<typeof networkOf>;
beforeAll(async () => {
  world = await startWorld({ env: { BURSAR_DECISION_WAIT_MS: '60000', BURSAR_NETWORK_MESSAGES_PER_SECOND: '100000' } });
  network = networkOf(world);
});
afterAll(() => world.close());

const path = '/network/authorizations';
const asHttp = (message: object): string => {
  const rawBody = JSON.stringify(message);
  return [
    `POST ${path} HTTP/1.1`,
    'Host: bursar',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(rawBody)}`,
    `X-Network-Signature: ${signed(world.networkKey, { path, rawBody })}`,
    '',
    rawBody,
  ].join('\r\n');
};

/** Many requests on one connection, none of which waits for the answer of the one before. */
function pipelined(messages: readonly object[]): { socket: Socket; statuses: () => string[] } {
  const socket = connect(Number(new URL(world.apiUrl).port), '127.0.0.1');
  let answered = '';
  socket.on('data', (data) => {
    answered += String(data);
  });
  socket.write(messages.map(asHttp).join(''));
  return { socket, statuses: () => [...answered.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => String(status)) };
}

const unsigned = () => fetch(`${world.apiUrl}${path}`, { method: 'POST', body: '{}' });
const mayWait = 1_024;
const more = 128; // Beyond those that wait and those that two batches have begun.

test('what finds the queue full is 503 with Retry-After and holds nothing; the later advice books it', async () => {
  const decliners = await Promise.all(
    Array.from({ length: 16 }, () => aPayer(world, { policy: { max_transaction_cents: 1 } })),
  );
  const buyer = await aPayer(world, { fundsCents: 5_000 });
  const blocker = new pg.Client({ connectionString: world.ownerUrl });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query('lock table network_messages in access exclusive mode');

  const waiting = Array.from({ length: mayWait + more }, (_, i) =>
    network.authorizationOf(decliners[i % decliners.length] as Payer),
  );
  const connections = [0, 1, 2, 3].map((nth) => pipelined(waiting.filter((_, i) => i % 4 === nth)));
  // With room it is 401: without room no signature is looked at.
  await eventually(unsigned, ({ status }) => status === 503);

  const message = network.authorizationOf(buyer);
  for (let turn = 0; turn < 3; turn++) {
    const answer = await network.request('authorizations', message);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await answer.json()).toEqual({
      error:
        'more authorizations wait than can be begun in time, so this one was not taken; nothing is held, and the network may send it again',
    });
  }
  await blocker.query('rollback');
  await blocker.end();

  const answered = await eventually(
    () => Promise.resolve(connections.flatMap(({ statuses }) => statuses())),
    ({ length }) => length === waiting.length,
  );
  for (const { socket } of connections) socket.destroy();
  const count = async (table: string, column: string) =>
    (
      await world.sql<{ n: number }>(`select count(*)::int as n from ${table} where ${column} = any ($1::text[])`, [
        waiting.map(({ id }) => id),
      ])
    )[0]?.n;
  const decided = answered.filter((status) => status === '200').length;
  expect([...new Set(answered)].sort()).toEqual(['200', '503']);
  expect(await count('network_messages', 'id')).toBe(decided);
  expect(await count('transactions', 'authorization_id')).toBe(decided);

  expect(await world.sql('select from network_messages where id = $1', [message.id])).toEqual([]);
  expect(await world.sql('select from transactions where agent_id = $1', [buyer.agentId])).toEqual([]);
  expect(await balancesOf(world, buyer)).toEqual({ available: 5_000, held: 0, receivable: 0 });

  const advised = await network.advise(message);
  expect(advised.status).toBe(200);
  expect(await balancesOf(world, buyer)).toEqual({ available: 3_750, held: 1_250, receivable: 0 });
  const again = await network.send<Authorized>('authorizations', message);
  expect(again.body).toMatchObject({ decision: 'approved', approvedCents: 1_250, ...advised.body });
  expect(await balancesOf(world, buyer)).toEqual({ available: 3_750, held: 1_250, receivable: 0 });
  expect(await brokenInvariants(world)).toEqual([]);
});

test('what cannot begin in time is 503 with Retry-After as well, and is decided when it is sent again', async () => {
  const hurried = await startWorld({ env: { BURSAR_DECISION_WAIT_MS: '100' } });
  try {
    const { authorizationOf, request, send } = networkOf(hurried);
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => aPayer(hurried, { fundsCents: 5_000 })));
    const blocker = new pg.Client({ connectionString: hurried.ownerUrl });
    await blocker.connect();
    await blocker.query('begin');
    await blocker.query('lock table network_messages in access exclusive mode');
    // Each begins a batch, and there are two at once.
    const begun = [first, second].map((payer) => request('authorizations', authorizationOf(payer as Payer)));
    await eventually(
      () => blocker.query(`select from pg_locks where not granted and relation = 'network_messages'::regclass`),
      ({ rowCount }) => Number(rowCount) >= 2,
    );
    const message = authorizationOf(third as Payer);
    const late = await request('authorizations', message);
    expect([late.status, late.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await late.json()).toEqual({ error: expect.stringContaining('could not be begun within 100 ms') });
    await blocker.query('rollback');
    await blocker.end();
    for (const answer of await Promise.all(begun)) expect([200, 503]).toContain(answer.status);
    expect(await hurried.sql('select from network_messages where id = $1', [message.id])).toEqual([]);
    expect(await balancesOf(hurried, third as Payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
    const again = await eventually(
      () => send<Authorized>('authorizations', message),
      ({ status }) => status === 200,
    );
    expect(again.body).toMatchObject({ decision: 'approved', approvedCents: 1_250 });
    expect(await balancesOf(hurried, third as Payer)).toEqual({ available: 3_750, held: 1_250, receivable: 0 });
  } finally {
    await hurried.close();
  }
});
