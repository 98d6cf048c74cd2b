/** Transfers of an owner over HTTP: single and split, refused whole, isolated, and conserved under load. @module */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { ledgerArea } from '../../../src/domains/treasury/ledger/ledger.contract.ts';
import { transfersArea } from '../../../src/domains/treasury/transfers/transfer.contract.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { eventsOf, eventsSince, lastEvent } from '../../support/events.ts';
import { refusal } from '../../support/refusals.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
/** The default wallet with 100.00, and two empty ones. */
let main: string;
let travel: string;
let tools: string;
beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  owner = await world.owner();
  main = (await owner.client(fundArea).fundWallet({ body: { amountEuros: 100 } })).walletId;
  travel = await aWallet('Travel');
  tools = await aWallet('Tools');
});
afterAll(() => world.close());

const payeeIban = 'DE89370400440532013000';
const transfers = (of: Pick<Owner, 'client'> = owner) => of.client(transfersArea);
const aWallet = async (name: string, of: Owner = owner) =>
  (await of.client(walletsArea).createWallet({ body: { name } })).id;
const balanceOf = async (id: string) => (await owner.client(walletsArea).getWallet({ params: { id } })).balanceEuros;
const balances = () => Promise.all([main, travel, tools].map(balanceOf));
const verified = async () =>
  expect(await owner.client(ledgerArea).verifyLedger({ query: { full: 'true' } })).toMatchObject({
    balanced: true,
    differences: [],
  });
const nothingMoved = async () => {
  expect(await balances()).toEqual([100, 0, 0]);
  expect((await transfers().listTransfers()).data).toEqual([]);
};

/** Nothing of a transfer between wallets. */
const ofBankTransfers = {
  ...{ beneficiaryId: null, toIbanMasked: null, payeeName: null, scheme: null, sepaReference: null, recall: null },
  ...{ failureReason: null, failureText: null, payeeCheck: null, approvalRule: null, approvalUrl: null },
  ...{ expiresAt: null, decidedBy: null, decidedAt: null, decisionReason: null },
  ...{ executionDate: null, settlementDate: null, intentId: null },
};

describe('a transfer', () => {
  // spec: event:transfer.completed
  test('is completed in the answer, in both wallets and in the ledger, and two events report it', async () => {
    const before = await lastEvent(world, owner);
    const body = {
      toWalletId: travel,
      amountEuros: 12.34,
      reference: 'Trip 7',
      memo: 'for Anna',
      metadata: { trip: 7 },
    };
    const made = await transfers().createTransfer({ body });
    expect(made).toEqual({
      ...ofBankTransfers,
      id: expect.stringMatching(/^tr_/),
      ownerId: owner.ownerId,
      agentId: null,
      type: 'internal',
      fromWalletId: main,
      toWalletId: travel,
      amountEuros: 12.34,
      currency: 'EUR',
      reference: 'Trip 7',
      memo: 'for Anna',
      status: 'completed',
      splitId: null,
      requestId: expect.any(String),
      runId: null,
      metadata: { trip: 7 },
      createdAt: expect.any(String),
      completedAt: made.createdAt,
    });
    expect(await transfers().getTransfer({ params: { id: made.id } })).toEqual(made);
    expect(await balances()).toEqual([87.66, 12.34, 0]);
    const { data } = await owner.client(ledgerArea).listLedgerEntries({ query: { referenceId: made.id } });
    expect(data.map(({ account, direction, amountEuros }) => [account, direction, amountEuros])).toEqual([
      [`wallet:${travel}:available`, 'credit', 12.34],
      [`wallet:${main}:available`, 'debit', 12.34],
    ]);
    expect(await eventsSince(world, owner, before)).toEqual(['transfer.completed', 'wallet.credited']);
    const [completed] = await eventsOf(world, made.id);
    expect(completed?.data).toEqual({
      ...{ beneficiaryId: null, failureReason: null, intentId: null },
      id: made.id,
      ownerId: owner.ownerId,
      agentId: null,
      status: 'completed',
      type: 'internal',
      fromWalletId: main,
      toWalletId: travel,
      amountEuros: 12.34,
      splitId: null,
    });
    const credited = (await eventsOf(world, travel)).at(-1);
    expect(credited?.data).toMatchObject({
      source: 'transfer',
      transferId: made.id,
      amountEuros: 12.34,
      balanceEuros: 12.34,
    });
    const [audit] = await world.sql('select actor, action, details from audit where subject_id = $1', [made.id]);
    expect(audit).toMatchObject({ action: 'transfer.completed', details: { amountCents: 1_234 } });
    await verified();
  });

  // spec: alias:/payments
  test('goes out of the wallet that is named, and is found under the alias', async () => {
    await transfers().createTransfer({ body: { toWalletId: travel, amountEuros: 10 } });
    const back = await transfers().createTransfer({
      body: { fromWalletId: travel, toWalletId: tools, amountEuros: 4 },
    });
    expect(await balances()).toEqual([90, 6, 4]);
    for (const path of ['/transfers', '/payments', '/v1/transfers', '/v1/payments']) {
      const answer = await owner.send({ method: 'GET', path: `${path}/${back.id}`, headers: {} });
      expect([path, answer.status]).toEqual([path, 200]);
    }
  });

  test('to a bank account has the longest name and text, and the smallest amount, as the bank gets them', async () => {
    const to = { name: 'ß'.repeat(35), iban: payeeIban };
    const made = await transfers().createTransfer({ body: { to, amountEuros: 0.01, reference: 'ß'.repeat(70) } });
    expect(made).toMatchObject({ payeeName: 's'.repeat(70), sepaReference: 's'.repeat(140), amountEuros: 0.01 });
    await owner.client(fundArea).fundWallet({ body: { amountEuros: 100_000 } });
    expect(await transfers().createTransfer({ body: { to, amountEuros: 100_000 } })).toMatchObject({
      amountEuros: 100_000,
    });
  });

  test('of the smallest and of the largest amount', async () => {
    await transfers().createTransfer({ body: { toWalletId: travel, amountEuros: 0.01 } });
    await owner.client(fundArea).fundWallet({ body: { amountEuros: 100_000 } });
    await transfers().createTransfer({ body: { toWalletId: tools, amountEuros: 100_000 } });
    expect(await balances()).toEqual([99.99, 0.01, 100_000]);
  });

  test('with the same Idempotency-Key moves money once, also at once and after a lost answer', async () => {
    const headers = { 'Idempotency-Key': 'transfer-once' };
    const ask = () => transfers().createTransfer({ body: { toWalletId: travel, amountEuros: 5 }, headers });
    const first = await ask();
    expect(await ask()).toEqual(first);
    await world.sql('update idempotency set status = null, body = null, lease_until = null where key = $1', [
      'transfer-once',
    ]);
    expect(await ask()).toEqual(first);
    const other = transfers().createTransfer({ body: { toWalletId: travel, amountEuros: 6 }, headers });
    await expect(other).rejects.toEqual(refusal(409, /used for another request/));
    const parallel = { 'Idempotency-Key': 'transfer-parallel' };
    await Promise.allSettled(
      Array.from({ length: 8 }, () =>
        transfers().createTransfer({ body: { toWalletId: tools, amountEuros: 1 }, headers: parallel }),
      ),
    );
    expect(await balances()).toEqual([94, 5, 1]);
    await verified();
  });

  test.each([
    ['no target', () => ({ amountEuros: 1 }), /exactly one of toWalletId/],
    ['no amount', () => ({ toWalletId: travel }), /body\.amountEuros/],
    ['nothing', () => ({ toWalletId: travel, amountEuros: 0 }), /from 0\.01 to 100000\.00/],
    ['too much', () => ({ toWalletId: travel, amountEuros: 100_000.01 }), /from 0\.01 to 100000\.00/],
    ['a part of a cent', () => ({ toWalletId: travel, amountEuros: 0.005 }), /two decimals/],
    ['a negative amount', () => ({ toWalletId: travel, amountEuros: -1 }), /not negative/],
    [
      'the same wallet',
      () => ({ toWalletId: main, amountEuros: 1 }),
      /body\.toWalletId: is where the money comes from/,
    ],
    ['a wrong IBAN', () => ({ to: { name: 'A', iban: 'DE02120300000000202052' }, amountEuros: 1 }), /body\.to\.iban/],
    [
      'a reference outside SEPA',
      () => ({ toWalletId: travel, amountEuros: 1, reference: 'Miete_7' }),
      /body\.reference/,
    ],
    [
      'a name that is too long in the characters of SEPA',
      () => ({ to: { name: 'ß'.repeat(36), iban: payeeIban }, amountEuros: 1 }),
      /body\.to\.name: must have at most 70 characters once/,
    ],
    [
      'a reference that is too long in the characters of SEPA',
      () => ({ to: { name: 'A', iban: payeeIban }, amountEuros: 1, reference: 'ß'.repeat(71) }),
      /body\.reference: must have at most 140 characters once/,
    ],
    ['a long memo', () => ({ toWalletId: travel, amountEuros: 1, memo: 'x'.repeat(1_001) }), /body\.memo/],
    [
      'more than is there',
      () => ({ toWalletId: travel, amountEuros: 100.01 }),
      /has 100\.00 euros available, 100\.01 asked/,
    ],
  ])('of or to %s is refused, and nothing moves', async (_what, body, message) => {
    await expect(transfers().createTransfer({ body: body() as never })).rejects.toEqual(refusal(400, message));
    await nothingMoved();
  });

  test('between wallets has nothing to decide', async () => {
    const { id } = await transfers().createTransfer({ body: { toWalletId: travel, amountEuros: 1 } });
    const params = { id };
    const why = refusal(400, /completed at once/);
    await expect(transfers().approveTransfer({ params, body: {} })).rejects.toEqual(why);
    await expect(transfers().denyTransfer({ params, body: {} })).rejects.toEqual(why);
    await expect(transfers().cancelTransfer({ params, body: {} })).rejects.toEqual(why);
  });

  test.each(['closed', 'frozen'])('from or to a %s wallet is refused', async (status) => {
    const set = (id: string, to: string) =>
      world.sql(`update wallets set status = $2, closed_at = case $2 when 'closed' then now() end where id = $1`, [
        id,
        to,
      ]);
    await set(travel, status);
    const message = new RegExp(`wallet ${travel} is ${status}`);
    const from = transfers().createTransfer({ body: { fromWalletId: travel, toWalletId: tools, amountEuros: 1 } });
    await expect(from).rejects.toEqual(refusal(400, message));
    await expect(transfers().createTransfer({ body: { toWalletId: travel, amountEuros: 1 } })).rejects.toEqual(
      refusal(400, message),
    );
    await nothingMoved();
  });

  test("neither takes from nor gives to another owner's wallet, and is not found by another owner", async () => {
    const stranger = await world.owner();
    const theirs = await aWallet('Theirs', stranger);
    for (const body of [
      { toWalletId: theirs, amountEuros: 1 },
      { fromWalletId: theirs, toWalletId: travel, amountEuros: 1 },
      { toWalletId: newId('wallet'), amountEuros: 1 },
      { fromWalletId: newId('wallet'), toWalletId: travel, amountEuros: 1 },
    ]) {
      await expect(transfers().createTransfer({ body })).rejects.toEqual(refusal(404, /^no wallet wal_/));
    }
    const splits = [travel, theirs].map((toWalletId) => ({ toWalletId, amountEuros: 1 }));
    await expect(transfers().createTransferSplit({ body: { splits } })).rejects.toEqual(
      refusal(404, /^no wallet wal_/),
    );
    await nothingMoved();
    const { id } = await transfers().createTransfer({ body: { toWalletId: travel, amountEuros: 1 } });
    await expect(transfers(stranger).getTransfer({ params: { id } })).rejects.toEqual(refusal(404, /^no transfer tr_/));
    expect((await transfers(stranger).listTransfers({ query: { walletId: travel } })).data).toEqual([]);
  });

  test('an owner without a wallet has nothing to transfer', async () => {
    const stranger = await world.owner();
    const asked = transfers(stranger).createTransfer({ body: { toWalletId: travel, amountEuros: 1 } });
    await expect(asked).rejects.toEqual(refusal(400, /you have no wallet yet/));
  });
});

describe('a split', () => {
  // spec: event:transfer.split.completed
  test('by percentages pays every line, the last one with the cent that is left', async () => {
    const before = await lastEvent(world, owner);
    const third = await aWallet('Third');
    const splits = [
      { toWalletId: travel, percent: 33.33 },
      { toWalletId: tools, percent: 33.33, reference: 'second' },
      { toWalletId: third, percent: 33.34 },
    ];
    const split = await transfers().createTransferSplit({ body: { totalAmountEuros: 10, splits } });
    expect(split).toMatchObject({
      id: expect.stringMatching(/^spl_/),
      fromWalletId: main,
      totalAmountEuros: 10,
      status: 'completed',
    });
    expect(
      split.transfers.map(({ toWalletId, amountEuros, reference, splitId }) => [
        toWalletId,
        amountEuros,
        reference,
        splitId,
      ]),
    ).toEqual([
      [travel, 3.33, null, split.id],
      [tools, 3.33, 'second', split.id],
      [third, 3.34, null, split.id],
    ]);
    expect(await transfers().getTransferSplit({ params: { splitId: split.id } })).toEqual(split);
    expect((await transfers().listTransfers({ query: { splitId: split.id } })).data).toHaveLength(3);
    expect(await eventsSince(world, owner, before)).toEqual([
      'wallet.created',
      ...['transfer.completed', 'wallet.credited'],
      ...['transfer.completed', 'wallet.credited'],
      ...['transfer.completed', 'wallet.credited'],
      'transfer.split.completed',
    ]);
    expect((await eventsOf(world, split.id))[0]?.data).toMatchObject({ totalAmountEuros: 10, lines: 3 });
    await verified();
  });

  test('by amounts, twice to the same wallet, of everything that is there', async () => {
    const splits = [
      { toWalletId: travel, amountEuros: 60 },
      { toWalletId: travel, amountEuros: 40 },
    ];
    await transfers().createTransferSplit({ body: { splits, totalAmountEuros: 100 } });
    expect(await balances()).toEqual([0, 100, 0]);
    const credited = (await eventsOf(world, travel)).filter(({ name }) => name === 'wallet.credited');
    expect(credited.map(({ data }) => data.balanceEuros)).toEqual([60, 100]);
  });

  test('of fifty lines is one call, and repeated with its key it is the same one', async () => {
    const headers = { 'Idempotency-Key': 'fifty' };
    const splits = Array.from({ length: 50 }, (_, n) => ({ toWalletId: n % 2 ? travel : tools, amountEuros: 0.5 }));
    const split = await transfers().createTransferSplit({ body: { splits }, headers });
    await world.sql('update idempotency set status = null, body = null, lease_until = null where key = $1', ['fifty']);
    expect(await transfers().createTransferSplit({ body: { splits }, headers })).toEqual(split);
    expect(split.transfers).toHaveLength(50);
    expect(await balances()).toEqual([75, 12.5, 12.5]);
    await verified();
  });

  const lines = (...amounts: number[]) => amounts.map((amountEuros) => ({ toWalletId: travel, amountEuros }));
  const parts = (...percents: number[]) => percents.map((percent) => ({ toWalletId: travel, percent }));
  test.each([
    ['one line', () => ({ splits: lines(1) }), /body\.splits/],
    ['51 lines', () => ({ splits: lines(...Array<number>(51).fill(0.01)) }), /body\.splits/],
    [
      'another sum than its total',
      () => ({ splits: lines(1, 2), totalAmountEuros: 4 }),
      /sum to 3\.00, and totalAmountEuros is 4\.00/,
    ],
    ['percentages without a total', () => ({ splits: parts(50, 50) }), /body\.totalAmountEuros: is missing/],
    ['percentages up to 99.99', () => ({ splits: parts(50, 49.99), totalAmountEuros: 1 }), /sum to 99\.99, not to 100/],
    ['percentages above 100', () => ({ splits: parts(50, 50.01), totalAmountEuros: 1 }), /sum to 100\.01, not to 100/],
    [
      'a part of 0.00',
      () => ({ splits: parts(1, 99), totalAmountEuros: 0.5 }),
      /body\.splits\.0\.percent: is less than 0\.01 of 0\.50/,
    ],
    ['three decimals', () => ({ splits: parts(33.333, 66.667), totalAmountEuros: 1 }), /two decimals/],
    ['amounts and percentages', () => ({ splits: [...lines(1), ...parts(100)], totalAmountEuros: 2 }), /every line/],
    ['neither', () => ({ splits: [{ toWalletId: travel }, { toWalletId: tools }] }), /every line/],
    ['more than the limit', () => ({ splits: lines(100_000, 0.01) }), /100000\.00 is the limit/],
    ['more than is there', () => ({ splits: lines(60, 40.01) }), /has 100\.00 euros available, 100\.01 asked/],
    [
      'the wallet itself',
      () => ({ splits: [...lines(1), { toWalletId: main, amountEuros: 1 }] }),
      /body\.splits\.1\.toWalletId: is where/,
    ],
  ])('of %s is refused, and no line of it moves', async (_what, body, message) => {
    await expect(transfers().createTransferSplit({ body: body() as never })).rejects.toEqual(refusal(400, message));
    await nothingMoved();
    expect(await world.sql('select 1 from transfer_splits where owner_id = $1', [owner.ownerId])).toEqual([]);
  });

  test('with a closed wallet among its targets moves nothing', async () => {
    await owner.client(walletsArea).closeWallet({ params: { id: tools } });
    const splits = [...lines(1), { toWalletId: tools, amountEuros: 1 }];
    await expect(transfers().createTransferSplit({ body: { splits } })).rejects.toEqual(refusal(400, /is closed/));
    await nothingMoved();
  });

  test("another owner's split does not exist", async () => {
    const { id } = await transfers().createTransferSplit({ body: { splits: lines(1, 1) } });
    const asked = transfers(await world.owner()).getTransferSplit({ params: { splitId: id } });
    await expect(asked).rejects.toEqual(refusal(404, /^no transfer split spl_/));
  });
});

describe('many at once', () => {
  test('forty between two wallets in both directions all end, and no cent is lost', async () => {
    await transfers().createTransfer({ body: { toWalletId: travel, amountEuros: 50 } });
    const asked = Array.from({ length: 40 }, (_, n) => {
      const [fromWalletId, toWalletId] = n % 2 ? [main, travel] : [travel, main];
      return transfers().createTransfer({ body: { fromWalletId, toWalletId, amountEuros: (n + 1) / 100 } });
    });
    const answers = await Promise.allSettled(asked);
    expect(answers.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(await balances()).toEqual([49.8, 50.2, 0]);
    await verified();
  });

  test('of thirty that together ask for more than is there exactly as many are completed as are covered', async () => {
    const asked = Array.from({ length: 30 }, (_, n) =>
      transfers().createTransfer({ body: { toWalletId: n % 2 ? travel : tools, amountEuros: 9 } }),
    );
    const answers = await Promise.allSettled(asked);
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(11);
    for (const answer of answers) {
      if (answer.status === 'rejected')
        expect(answer.reason).toEqual(refusal(400, /1\.00 euros available, 9\.00 asked/));
    }
    expect(await balanceOf(main)).toBe(1);
    await verified();
  });

  test('splits and transfers in any mixture conserve the sum of the wallets', async () => {
    const wallets = [main, travel, tools];
    const anyWallet = fc.integer({ min: 0, max: 2 });
    const anyMove = fc.record({
      from: anyWallet,
      to: fc.array(anyWallet, { minLength: 1, maxLength: 4 }),
      cents: fc.integer({ min: 1, max: 6_000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(anyMove, { minLength: 4, maxLength: 10 }), async (moves) => {
        await Promise.allSettled(
          moves.map(({ from, to, cents }) => {
            const shared = { fromWalletId: wallets[from] ?? '', amountEuros: cents / 100 };
            const [only] = to;
            if (to.length === 1)
              return transfers().createTransfer({ body: { ...shared, toWalletId: wallets[only ?? 0] ?? '' } });
            const splits = to.map((one) => ({ toWalletId: wallets[one] ?? '', amountEuros: shared.amountEuros }));
            return transfers().createTransferSplit({ body: { fromWalletId: shared.fromWalletId, splits } });
          }),
        );
        const cents = (await balances()).map((euros) => Math.round(euros * 100));
        expect(cents.reduce((sum, one) => sum + one, 0)).toBe(10_000);
        expect(cents.every((one) => one >= 0)).toBe(true);
      }),
      { numRuns: 12 },
    );
    await verified();
  });

  test('a wallet that closes while money comes is closed and empty, or open with the money', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await aWallet(`Race ${round}`);
      const [closed, moved] = await Promise.allSettled([
        owner.client(walletsArea).closeWallet({ params: { id } }),
        transfers().createTransfer({ body: { toWalletId: id, amountEuros: 1 } }),
      ]);
      expect([closed.status, moved.status].sort()).toEqual(['fulfilled', 'rejected']);
      expect(await balanceOf(id)).toBe(moved.status === 'fulfilled' ? 1 : 0);
    }
  });
});

describe('lists', () => {
  test('by wallet, from and to it, newest first and page by page; by split; by instant', async () => {
    const dayOf = (at: Date) => at.toISOString().slice(0, 10);
    const began = dayOf(new Date());
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      ids.push((await transfers().createTransfer({ body: { toWalletId: travel, amountEuros: 2 } })).id);
      ids.push(
        (await transfers().createTransfer({ body: { fromWalletId: travel, toWalletId: tools, amountEuros: 1 } })).id,
      );
    }
    const other = (await transfers().createTransfer({ body: { toWalletId: tools, amountEuros: 1 } })).id;
    const list = async (query: object) => (await transfers().listTransfers({ query })).data.map(({ id }) => id);
    expect(await list({})).toEqual([other, ...ids.toReversed()]);
    expect(await list({ walletId: travel })).toEqual(ids.toReversed());
    expect(await list({ walletId: travel, type: 'internal', status: 'completed' })).toHaveLength(6);
    const first = await transfers().listTransfers({ query: { walletId: travel, limit: 4 } });
    const second = await transfers().listTransfers({
      query: { walletId: travel, limit: 4, cursor: first.nextCursor ?? '' },
    });
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids.toReversed());
    expect([first.hasMore, second.hasMore]).toEqual([true, false]);
    expect(await list({ from: began, to: dayOf(new Date()) })).toHaveLength(7);
    expect(await list({ to: '2020-01-01' })).toEqual([]);
    for (const query of [{ status: 'open' }, { type: 'card' }, { beneficiaryId: 'x' }, { walletId: 'main' }]) {
      await expect(list(query)).rejects.toMatchObject({ status: 400 });
    }
  });
});
