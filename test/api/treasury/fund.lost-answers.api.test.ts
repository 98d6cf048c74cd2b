/**
 * Goal: money moves once, and as its caller was told, when a connection to PostgreSQL loses what is sent on it and says
 * nothing. Method: an API process behind a proxy that loses chosen messages; a second one, that is connected directly,
 * tells what was written.
 * @module
 */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { sendTo } from '../../../src/client/client.ts';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { type RunningApi, startApi } from '../../../src/main/api-server.ts';
import { brokenInvariants } from '../../support/payments-world.ts';
import { callBy } from '../../support/plain-calls.ts';
import { startWire, type Wire } from '../../support/wire.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let wire: Wire;
let api: RunningApi;
beforeAll(async () => {
  world = await startWorld();
  wire = await startWire(world.config.DATABASE_URL);
  api = await startApi({ ...world.config, DATABASE_URL: wire.via(world.config.DATABASE_URL), PORT: 0 });
});
afterEach(async () => {
  wire.heal();
  expect(await brokenInvariants(world)).toEqual([]);
});
afterAll(async () => {
  await api.stop();
  await wire.close();
  await world.close();
});

/** By the API behind the proxy. */
const callAs = (owner: Owner) => callBy(sendTo(api.url, owner.key));

async function walletsOf(owner: Owner, fromEuros: number) {
  const wallets = owner.client(walletsArea);
  const [from, to] = [
    await wallets.createWallet({ body: { name: 'From' } }),
    await wallets.createWallet({ body: { name: 'To' } }),
  ];
  if (fromEuros > 0) await owner.client(fundArea).fundWallet({ body: { amountEuros: fromEuros, walletId: from.id } });
  const balanceOf = async (id: string) =>
    (await wallets.getWallet({ params: { id: id as typeof to.id } })).balanceEuros;
  return { from: from.id, to: to.id, balances: async () => [await balanceOf(from.id), await balanceOf(to.id)] };
}

const journalsOf = (owner: Owner, kind: string) =>
  world.sql('select id from journals where owner_id = $1 and kind = $2', [owner.ownerId, kind]);

test('a transfer and a funding whose answers are lost after the commit: a repeat is answered as they were, with one effect', async () => {
  const owner = await world.owner();
  const { from, to, balances } = await walletsOf(owner, 100);
  const call = callAs(owner);
  const transfer = () => call('POST', `/wallets/${to}/fund`, { amountEuros: 40, fromWalletId: from }, 'lost-transfer');
  const funding = () => call('POST', '/fund', { amountEuros: 5, walletId: from }, 'lost-funding');
  wire.lose('answer', '"lost-', 2);
  const [moved, funded] = await Promise.all([transfer(), funding()]);
  expect(wire.lost()).toBe(2);
  // The first batch and its repeat have lost their answers; another batch may have had one.
  expect([moved.status, funded.status]).toContain(503);
  for (const { status, retryAfter } of [moved, funded]) if (status === 503) expect(retryAfter).toBe('5');
  expect(await balances()).toEqual([65, 40]);
  wire.heal();

  const again = await Promise.all([transfer(), funding()]);
  expect(again.map(({ status }) => status)).toEqual([200, 200]);
  expect(again.map(({ isReplayed }) => isReplayed)).toEqual([true, true]);
  expect((await Promise.all([transfer(), funding()])).map(({ body }) => body)).toEqual(again.map(({ body }) => body));
  expect(await balances()).toEqual([65, 40]);
  expect(await journalsOf(owner, 'internal_transfer')).toHaveLength(1);
  expect(await journalsOf(owner, 'fund')).toHaveLength(2);
});

test('one whose answer is lost once is answered by its repeat in the same call', async () => {
  const owner = await world.owner();
  const { from, to, balances } = await walletsOf(owner, 100);
  wire.lose('answer', '"lost-once"', 1);
  const body = { amountEuros: 40, fromWalletId: from };
  const moved = await callAs(owner)('POST', `/wallets/${to}/fund`, body, 'lost-once');
  expect([moved.status, moved.isReplayed]).toEqual([200, false]);
  expect(wire.lost()).toBe(1);
  expect(await balances()).toEqual([60, 40]);
});

test('what arrives after its repeat was refused is not executed', async () => {
  const owner = await world.owner();
  const { from, to, balances } = await walletsOf(owner, 0);
  wire.lose('late', '"late-transfer"', 1);
  const body = { amountEuros: 40, fromWalletId: from };
  const refused = await callAs(owner)('POST', `/wallets/${to}/fund`, body, 'late-transfer');
  expect(wire.lost()).toBe(1);
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    400,
    expect.stringContaining('has 0.00 euros available'),
  ]);
  await owner.client(fundArea).fundWallet({ body: { amountEuros: 100, walletId: from } });
  await wire.deliver();
  expect(await balances()).toEqual([100, 0]);
  expect(await journalsOf(owner, 'internal_transfer')).toEqual([]);
});

test('a creation whose commit has lost its answer is answered 503, and its repeat finds what was made', async () => {
  const owner = await world.owner();
  const create = () => callAs(owner)('POST', '/wallets', { name: 'In doubt' }, 'in-doubt');
  wire.lose('answer', 'commit', 1);
  const doubtful = await create();
  expect(wire.lost()).toBe(1);
  expect([doubtful.status, doubtful.retryAfter]).toEqual([503, '5']);
  wire.heal();
  const found = await eventually(create, ({ status }) => status !== 409);
  expect(found.status).toBe(201);
  const { data } = await owner.client(walletsArea).listWallets({ query: {} });
  expect(data.filter(({ name }) => name === 'In doubt')).toHaveLength(1);
});

test('a request whose new connection is silent from the first statement is answered 503, and the next one is served', async () => {
  const owner = await world.owner();
  const impatient = await startApi({
    ...world.config,
    ...{ DATABASE_URL: wire.via(world.config.DATABASE_URL), PORT: 0, BURSAR_POOL_TIMEOUT_MS: 3_000 },
  });
  const read = () => callBy(sendTo(impatient.url, owner.key))('GET', '/wallets');
  try {
    await eventually(read, ({ status }) => status === 200);
    wire.lose('question', 'pg_backend_pid');
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'bursar-api'`;
    const silent = await eventually(
      async () => {
        await world.sql(cut);
        return read();
      },
      () => wire.lost() > 0,
    );
    expect([silent.status, silent.retryAfter]).toEqual([503, '5']);
    wire.heal();
    await eventually(read, ({ status }) => status === 200);
  } finally {
    await impatient.stop();
  }
});
