/**
 * Callers that disconnect while their funding waits for its batch, and while its batch is written. Method: a lock holds
 * a batch back, and the server's own responses say when it has noticed.
 * @module
 */
import diagnostics from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { someoneWaits } from '../../support/lock-waits.ts';
import { callBy } from '../../support/plain-calls.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
let locks: pg.Client;
const responses = new Map<string, ServerResponse>();
const remember = (message: unknown): void => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  responses.set(String(request.headers['idempotency-key']), response);
};

beforeAll(async () => {
  world = await startWorld();
  locks = new pg.Client({ connectionString: world.ownerUrl });
  await locks.connect();
  // A batch then stands where the test stops it, instead of giving way after a quarter of a second.
  await locks.query('alter function fund_wallets(jsonb) reset lock_timeout');
  diagnostics.subscribe('http.server.request.start', remember);
});
afterAll(async () => {
  diagnostics.unsubscribe('http.server.request.start', remember);
  await locks.end();
  await world.close();
});

test('one that waits for its batch moves nothing; one whose batch is written is made, and a repeat finds it', async () => {
  const owner = await world.owner();
  const { id } = await owner.client(walletsArea).createWallet({ body: { name: 'Held' } });
  const controllers = new Map<string, AbortController>();
  const fund = (key: string) => {
    const controller = new AbortController();
    controllers.set(key, controller);
    const call = callBy(({ path, ...request }) =>
      fetch(`${world.apiUrl}${path}`, {
        ...request,
        headers: { ...request.headers, Authorization: `Bearer ${owner.key}` },
        signal: controller.signal,
      }),
    );
    return call('POST', `/wallets/${id}/fund`, { amountEuros: 1 }, key);
  };
  const isNoticed = async (key: string) => {
    controllers.get(key)?.abort();
    await eventually(async () => responses.get(key)?.closed, Boolean);
  };
  expect(await fund('opens')).toMatchObject({ status: 200, body: { balanceEuros: 1 } });

  await locks.query('begin');
  await locks.query('select from ledger_accounts where name = $1 for update', [`wallet:${id}:available`]);
  const written = fund('written');
  await someoneWaits(world, { statement: 'fund_wallets' });
  const keys = ['one', 'gone', 'two', 'gone-too', 'three'];
  const waiting = keys.map((key) => fund(key));
  await eventually(async () => keys.every((key) => responses.has(key)), Boolean);
  for (const key of ['written', 'gone', 'gone-too']) await isNoticed(key);
  await locks.query('rollback');

  expect(await written).toMatchObject({ status: 0 });
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 0, 200, 0, 200]);
  const stored = await world.sql<{ key: string }>(
    `select key from idempotency where owner_id = $1 and key = any($2) order by key`,
    [owner.ownerId, ['opens', 'written', ...keys]],
  );
  expect(stored.map(({ key }) => key)).toEqual(['one', 'opens', 'three', 'two', 'written']);
  const balance = async () => (await owner.client(walletsArea).getWallet({ params: { id } })).balanceEuros;
  expect(await balance()).toBe(5);

  for (const key of ['written', 'gone', 'gone-too', 'one']) {
    expect(await fund(key)).toMatchObject({ status: 200, body: { amountEuros: 1 } });
    expect(responses.get(key)?.getHeader('Idempotent-Replayed')).toBe(key.startsWith('gone') ? undefined : 'true');
  }
  expect(await balance()).toBe(7);
});
