/** Putting money into wallets: at once in a sandbox, on paper in live mode, from wallet to wallet in both. @module */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { ledgerArea } from '../../../src/domains/treasury/ledger/ledger.contract.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { eventsSince, lastEvent } from '../../support/events.ts';
import { anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { aPayer, balancesOf, networkOf } from '../../support/payments-world.ts';
import { refusal } from '../../support/refusals.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  owner = await world.owner();
});
afterAll(() => world.close());

const funds = () => owner.client(fundArea);
const wallets = () => owner.client(walletsArea);

describe('from outside', () => {
  // spec: does:Fund:manual wallet top-up
  // spec: event:wallet.funded
  // spec: event:wallet.credited
  test('the money is there in the answer, in the wallet and in the book, and two events say so', async () => {
    const before = await lastEvent(world, owner);
    const funding = await funds().fundWallet({ body: { amountEuros: 250.01 } });
    expect(funding).toEqual({
      id: expect.stringMatching(/^fnd_/),
      walletId: expect.stringMatching(/^wal_/),
      amountEuros: 250.01,
      balanceEuros: 250.01,
      status: 'completed',
      simulated: true,
      createdAt: expect.any(String),
    });
    expect(await funds().getFunding({ params: { id: funding.id } })).toEqual(funding);
    expect(await wallets().getWalletBalance({ params: { id: funding.walletId } })).toMatchObject({
      totalEuros: 250.01,
    });
    const { data } = await owner.client(ledgerArea).listLedgerEntries({ query: { referenceId: funding.id } });
    expect(data.map(({ account, direction, amountEuros }) => [account, direction, amountEuros])).toEqual([
      [`wallet:${funding.walletId}:available`, 'credit', 250.01],
      [`external:processor:${owner.ownerId}`, 'debit', 250.01],
    ]);
    expect(await eventsSince(world, owner, before)).toEqual([
      'customer.created',
      'wallet.created',
      'wallet.funded',
      'wallet.credited',
    ]);
  });

  test('the events carry the amount, the balance right after and where it came from', async () => {
    await funds().fundWallet({ body: { amountEuros: 1 } });
    const before = await lastEvent(world, owner);
    const { walletId } = await funds().fundWallet({ body: { amountEuros: 2 } });
    const events = await world.sql<{ name: string; data: object }>(
      'select name, data from events where owner_id = $1 and seq > $2 order by seq',
      [owner.ownerId, before],
    );
    const told = expect.objectContaining({ walletId, amountEuros: 2, balanceEuros: 3, source: 'processor' });
    expect(events).toEqual([
      { name: 'wallet.funded', data: told },
      { name: 'wallet.credited', data: told },
    ]);
  });

  // spec: does:Wallets:fund
  test('into a wallet that is named, by both paths', async () => {
    const { id } = await wallets().createWallet({ body: { name: 'Named' } });
    await funds().fundWallet({ body: { amountEuros: 10, walletId: id } });
    expect(await wallets().fundWalletById({ params: { id }, body: { amountEuros: 5 } })).toEqual({
      walletId: id,
      amountEuros: 5,
      balanceEuros: 15,
      status: 'completed',
      simulated: true,
      fundingId: expect.stringMatching(/^fnd_/),
    });
  });

  test('the same Idempotency-Key funds once, also at once', async () => {
    const headers = { 'Idempotency-Key': 'fund-once' };
    const ask = () => funds().fundWallet({ body: { amountEuros: 5 }, headers });
    const first = await ask();
    expect(await ask()).toEqual(first);
    const parallel = { 'Idempotency-Key': 'fund-parallel' };
    const same = await Promise.all(
      Array.from({ length: 8 }, () => funds().fundWallet({ body: { amountEuros: 1 }, headers: parallel })),
    );
    expect(new Set(same.map(({ id }) => id)).size).toBe(1);
    expect(await wallets().getWalletBalance({ params: { id: first.walletId } })).toMatchObject({ availableEuros: 6 });
  });

  test('a key is free for another funding after a day', async () => {
    const headers = { 'Idempotency-Key': 'fund-tomorrow' };
    const ask = () => funds().fundWallet({ body: { amountEuros: 5 }, headers });
    const first = await ask();
    await world.sql(`update idempotency set reserved_at = now() - interval '24 hours' where owner_id = $1`, [
      owner.ownerId,
    ]);
    const second = await ask();
    expect(second.id).not.toBe(first.id);
    expect(await ask()).toEqual(second);
  });

  test('a first funding that is refused leaves no customer, no wallet and no event behind', async () => {
    const headers = { 'Idempotency-Key': 'used-before' };
    await owner.client(fundArea).fundWallet({ body: { amountEuros: 1 }, headers });
    const fresh = await world.owner();
    const before = await lastEvent(world, fresh);
    // The key's first call is of the same owner: a row of it stands for a call that made no customer.
    await world.sql(
      `insert into idempotency select (jsonb_populate_record(i, jsonb_build_object('owner_id', $1::text,
         'request_hash', repeat('a', 64)))).* from idempotency i where owner_id = $2 and key = 'used-before'`,
      [fresh.ownerId, owner.ownerId],
    );
    await expect(fresh.client(fundArea).fundWallet({ body: { amountEuros: 1 }, headers })).rejects.toEqual(
      refusal(409, /Idempotency-Key/),
    );
    const left = await world.sql(
      'select id from customers where owner_id = $1 union all select id from wallets where owner_id = $1',
      [fresh.ownerId],
    );
    expect(left).toEqual([]);
    expect(await eventsSince(world, fresh, before)).toEqual([]);
    const { balanceEuros } = await fresh.client(fundArea).fundWallet({ body: { amountEuros: 2 } });
    expect(balanceEuros).toBe(2);
  });

  test('first fundings at once make one customer, and each is counted', async () => {
    const keyed = { 'Idempotency-Key': 'first-of-all' };
    const asks = [{}, {}, {}, keyed, keyed].map((headers) => funds().fundWallet({ body: { amountEuros: 1 }, headers }));
    const made = await Promise.all(asks);
    expect(new Set(made.map(({ walletId }) => walletId)).size).toBe(1);
    expect(new Set(made.map(({ id }) => id)).size).toBe(4);
    const walletId = made[0]?.walletId ?? '';
    expect(await wallets().getWalletBalance({ params: { id: walletId } })).toMatchObject({ availableEuros: 4 });
  });

  test('forty at once are each counted', async () => {
    const { walletId } = await funds().fundWallet({ body: { amountEuros: 1 } });
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => funds().fundWallet({ body: { amountEuros: 0.25 } })),
    );
    expect(await wallets().getWalletBalance({ params: { id: walletId } })).toMatchObject({ availableEuros: 11 });
    expect(new Set(answers.map(({ balanceEuros }) => balanceEuros)).size).toBe(40);
  });

  test('the owner’s debt is settled first', async () => {
    const payer = await aPayer(world, { owner, fundsCents: 100 });
    const network = networkOf(world);
    const message = network.authorizationOf(payer, { amountCents: 100 });
    await network.send('authorizations', message);
    await network.clear(payer, { authorizationId: message.id, amountCents: 800 });
    expect(await balancesOf(world, payer)).toEqual({ available: 0, held: 0, receivable: 700 });
    const body = { amountEuros: 4, walletId: payer.walletId };
    expect(await funds().fundWallet({ body })).toMatchObject({ amountEuros: 4, balanceEuros: 0 });
    expect(await funds().fundWallet({ body })).toMatchObject({ amountEuros: 4, balanceEuros: 1 });
    expect(await balancesOf(world, payer)).toEqual({ available: 100, held: 0, receivable: 0 });
    expect(await owner.client(ledgerArea).verifyLedger()).toMatchObject({ balanced: true, differences: [] });
  });

  test.each([
    ['no amount', {}, /body\.amountEuros/],
    ['zero', { amountEuros: 0 }, /from 0\.01 to 100000\.00/],
    ['a negative amount', { amountEuros: -5 }, /not negative/],
    ['three decimals', { amountEuros: 1.005 }, /two decimals/],
    ['too much', { amountEuros: 100_000.01 }, /from 0\.01 to 100000\.00/],
    ['a huge amount', { amountEuros: 1e21 }, /amount in euros/],
    ['an amount as text', { amountEuros: '5' }, /body\.amountEuros/],
    ['a wallet that does not exist', { amountEuros: 1, walletId: newId('wallet') }, /no wallet of this owner/],
    ['something that is no wallet', { amountEuros: 1, walletId: 'main' }, /must be a wallet id/],
    ['an unknown field', { amountEuros: 1, currency: 'EUR' }, /currency/],
  ])('%s is refused and nothing is booked', async (_what, body, message) => {
    await expect(funds().fundWallet({ body: body as never })).rejects.toEqual(refusal(400, message));
    expect(await world.sql('select 1 from journals where owner_id = $1', [owner.ownerId])).toEqual([]);
    expect(await world.sql('select 1 from wallets where owner_id = $1', [owner.ownerId])).toEqual([]);
  });

  test("another owner's wallet and funding do not exist", async () => {
    const theirs = await funds().fundWallet({ body: { amountEuros: 9 } });
    owner = await world.owner();
    const into = funds().fundWallet({ body: { amountEuros: 1, walletId: theirs.walletId } });
    await expect(into).rejects.toEqual(refusal(400, /no wallet of this owner/));
    await expect(funds().getFunding({ params: { id: theirs.id } })).rejects.toEqual(refusal(404, /^no funding/));
  });

  test('an agent token can neither create nor read fundings', async () => {
    const funding = await funds().fundWallet({ body: { amountEuros: 9 } });
    const { token } = await anAgentWithCard(world, owner);
    const agent = world.as(token).client(fundArea);
    await expect(agent.fundWallet({ body: { amountEuros: 1 } })).rejects.toMatchObject({ status: 403 });
    await expect(agent.getFunding({ params: { id: funding.id } })).rejects.toMatchObject({ status: 403 });
  });
});

describe('from wallet to wallet', () => {
  const fromMain = async (amountEuros: number) => {
    const { walletId: fromWalletId } = await funds().fundWallet({ body: { amountEuros: 20 } });
    const { id } = await wallets().createWallet({ body: { name: 'Target' } });
    const before = await lastEvent(world, owner);
    return {
      id,
      fromWalletId,
      before,
      asked: wallets().fundWalletById({ params: { id }, body: { amountEuros, fromWalletId } }),
    };
  };

  test('the money moves, with an event for the target only', async () => {
    const { id, fromWalletId, before, asked } = await fromMain(7.5);
    expect(await asked).toEqual({
      walletId: id,
      amountEuros: 7.5,
      balanceEuros: 7.5,
      status: 'completed',
      simulated: false,
      fundingId: expect.stringMatching(/^fnd_/),
    });
    expect(await wallets().getWallet({ params: { id: fromWalletId } })).toMatchObject({ balanceEuros: 12.5 });
    expect(await eventsSince(world, owner, before)).toEqual(['wallet.funded']);
  });

  test('more than is there is refused with the figures', async () => {
    const { fromWalletId, asked } = await fromMain(20.01);
    await expect(asked).rejects.toEqual(
      refusal(400, new RegExp(`wallet ${fromWalletId} has 20\\.00 euros available, 20\\.01 asked`)),
    );
    expect(await wallets().getWallet({ params: { id: fromWalletId } })).toMatchObject({ balanceEuros: 20 });
  });

  test('the source must be another wallet of the owner, and open', async () => {
    const { id, fromWalletId, asked } = await fromMain(1);
    await asked;
    const stranger = await world.owner();
    const theirs = await stranger.client(walletsArea).createWallet({ body: { name: 'Theirs' } });
    for (const [source, message] of [
      [id, /is the wallet itself/],
      [theirs.id, /no wallet of this owner/],
      [newId('wallet'), /no wallet of this owner/],
    ] as const) {
      const body = { amountEuros: 1, fromWalletId: source };
      await expect(wallets().fundWalletById({ params: { id }, body })).rejects.toEqual(refusal(400, message));
    }
    await world.sql(`update wallets set status = 'frozen' where id = $1`, [fromWalletId]);
    const frozen = wallets().fundWalletById({ params: { id }, body: { amountEuros: 1, fromWalletId } });
    await expect(frozen).rejects.toEqual(refusal(400, /is frozen/));
  });
});

describe('in live mode', () => {
  let live: World;
  beforeAll(async () => {
    live = await startWorld({ env: { BURSAR_MODE: 'live', BURSAR_ALLOW_SIMULATED: 'true' } });
  });
  afterAll(() => live.close());

  test('a top-up is stored with payment instructions, and no money is booked', async () => {
    const its = await live.owner();
    const funding = await its.client(fundArea).fundWallet({ body: { amountEuros: 50 } });
    expect(funding).toMatchObject({
      amountEuros: 50,
      balanceEuros: 0,
      status: 'pending',
      simulated: false,
      bankDetails: { iban: null, bic: null, reference: expect.stringMatching(/^RF\d{2}[0-9A-Z]{21}$/) },
    });
    expect(await live.sql('select 1 from journals where owner_id = $1', [its.ownerId])).toEqual([]);
    expect(await eventsSince(live, its, 0)).toContain('funding.requested');
    expect(await its.client(fundArea).getFunding({ params: { id: funding.id } })).toEqual(funding);
  });

  test('a top-up of a wallet by its id is noted, and nothing is booked', async () => {
    const its = await live.owner();
    const { id } = await its.client(walletsArea).createWallet({ body: { name: 'Travel' } });
    const funding = await its.client(walletsArea).fundWalletById({ params: { id }, body: { amountEuros: 50 } });
    expect(funding).toMatchObject({ walletId: id, balanceEuros: 0, status: 'pending', simulated: false });
    const { bankDetails } = await its.client(fundArea).getFunding({ params: { id: funding.fundingId } });
    expect(bankDetails?.reference).toMatch(/^RF/);
    expect(funding.bankDetails).toEqual(bankDetails);
    expect(await live.sql('select 1 from journals where owner_id = $1', [its.ownerId])).toEqual([]);
    expect(await eventsSince(live, its, 0)).toContain('funding.requested');
  });

  test('simulated money is refused', async () => {
    const its = await live.owner();
    const asked = its.client(fundArea).fundWallet({ body: { amountEuros: 50, simulate: true } });
    await expect(asked).rejects.toEqual(refusal(400, /sandbox deployment only/));
  });

  test('a wallet has no IBAN that no rail delivered', async () => {
    const its = await live.owner();
    const opened = await its.client(walletsArea).createWallet({ body: { name: 'Live' } });
    expect([opened.iban, opened.bic]).toEqual([null, null]);
  });
});

/** Clears more than was ever there: `paid` from the wallet, the rest owed. */
