/** Fundings as atomic writes, below HTTP: two processes, keys, dead connections, deadlocks, one bad item among good ones. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import type { Database } from '../../src/db/database.ts';
import { type FundingOrder, fundWallet } from '../../src/domains/treasury/funding/funding.service.ts';
import type { AtomicKey } from '../../src/http/atomic-key.ts';
import { type Id, newId, uuidv7 } from '../../src/kernel/ids.ts';
import { cents } from '../../src/kernel/money.ts';
import { someoneWaits } from '../support/lock-waits.ts';
import { eventually } from '../support/world.ts';
import { type Book, because, openBook } from './book.ts';

let book: Book;
let elsewhere: Database;
beforeAll(async () => {
  book = await openBook();
  elsewhere = await book.elsewhere();
});
afterAll(() => book.close());

type Wanted = {
  readonly ownerId: Id<'owner'>;
  readonly to: Id<'wallet'>;
  readonly from?: Id<'wallet'>;
  readonly amountCents: number;
  readonly key?: string;
  readonly hash?: string;
  readonly gone?: () => AbortSignal;
};

/** As the edge calls it. */
function move({ ownerId, to, from, amountCents, key, hash = '1', gone }: Wanted, database: Database = book.database) {
  const seed = uuidv7();
  const path = `/wallets/${to}/fund`;
  const scope = { ownerId, callerKind: 'key', agentId: '', method: 'POST', path, paths: [path, `/v1${path}`] };
  const atomicKey: AtomicKey | null =
    key === undefined ? null : { ...scope, key, requestHash: hash, seed, seedMs: Date.now() };
  const order: FundingOrder = {
    id: newId('funding'),
    journalId: newId('journal'),
    ownerId,
    walletId: to,
    fromWalletId: from,
    amountCents: cents(amountCents),
  };
  return fundWallet({ database, mode: 'sandbox' })({ atomicKey, cause: because(seed), gone } as never, order);
}

const codes = async (all: readonly Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(all)).map((one) => (one.status === 'fulfilled' ? 'done' : String(one.reason.code)));

async function aPair(amountCents = 0) {
  const { ownerId, walletId: one } = await book.owner();
  const two = await book.wallet(ownerId);
  if (amountCents > 0) await move({ ownerId, to: one, amountCents });
  return { ownerId, one, two };
}

const balances = async (...wallets: string[]): Promise<number[]> => {
  const rows = await book.rows(
    `select w.id, coalesce(a.balance_cents, 0)::int as cents from unnest($1::text[]) with ordinality w (id, n)
     left join ledger_accounts a on a.name = 'wallet:' || w.id || ':available' order by w.n`,
    [wallets],
  );
  return rows.map(({ cents: found }) => Number(found));
};

const counted = async (ownerId: string) =>
  (
    await book.rows(
      `select (select count(*) from fundings where owner_id = $1) as fundings,
         (select count(*) from journals where owner_id = $1) as journals,
         (select count(*) from events where owner_id = $1 and name = 'wallet.funded') as events,
         (select count(*) from audit where owner_id = $1) as audits,
         (select fundings from funding_days where owner_id = $1) as today,
         (select count(*) from idempotency where owner_id = $1) as keys`,
      [ownerId],
    )
  )[0];

const allOf = (n: number, keys = 0) => ({ fundings: n, journals: n, events: n, audits: n, today: n, keys });

test('parallel transfers from two processes take what is there and not a cent more', async () => {
  const { ownerId, one, two } = await aPair(100);
  const all = Array.from({ length: 60 }, (_, n) =>
    move({ ownerId, from: one, to: two, amountCents: 3 }, n % 2 ? elsewhere : book.database),
  );
  expect((await codes(all)).filter((code) => code === 'done')).toHaveLength(33);
  expect(new Set(await codes(all))).toEqual(new Set(['done', 'insufficient_funds']));
  expect(await balances(one, two)).toEqual([1, 99]);
  expect(await counted(ownerId)).toEqual(allOf(34));
});

test('transfers of two processes in both directions never deadlock', async () => {
  const { ownerId, one, two } = await aPair(1_000);
  await move({ ownerId, from: one, to: two, amountCents: 500 });
  const deadlocks = async () =>
    (await book.rows('select deadlocks from pg_stat_database where datname = current_database()'))[0];
  const before = await deadlocks();
  const all = Array.from({ length: 80 }, (_, n) => {
    const [from, to] = n % 4 < 2 ? [one, two] : [two, one];
    return move({ ownerId, from, to, amountCents: 7, key: `way-${n}` }, n % 2 ? elsewhere : book.database);
  });
  expect(new Set(await codes(all))).toEqual(new Set(['done']));
  expect(await balances(one, two)).toEqual([500, 500]);
  expect(await deadlocks()).toEqual(before);
});

test('one key is one funding, in one process and in two; the others get its answer, or 409 for another request', async () => {
  const { ownerId, one } = await aPair();
  const ask = (n: number) => move({ ownerId, to: one, amountCents: 5, key: 'same' }, n % 2 ? elsewhere : book.database);
  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => ask(n)));
  expect(new Set(answers.map(({ result }) => result.id)).size).toBe(1);
  expect(answers.filter(({ isReplayed }) => !isReplayed)).toHaveLength(1);
  expect(await ask(0)).toEqual({ ...answers[0], isReplayed: true });
  expect(await codes([move({ ownerId, to: one, amountCents: 5, key: 'same', hash: '2' })])).toEqual([
    'idempotency_conflict',
  ]);
  const both = [1, 2].map((n) => move({ ownerId, to: one, amountCents: 1, key: 'fresh', hash: String(n) }));
  expect((await codes(both)).toSorted()).toEqual(['done', 'idempotency_conflict']);
  expect(await counted(ownerId)).toEqual(allOf(2, 2));
});

test('a refusal leaves no row: the same key works when the money is there', async () => {
  const { ownerId, one, two } = await aPair(10);
  const ask = () => move({ ownerId, from: one, to: two, amountCents: 11, key: 'later' });
  expect(await codes([ask(), ask()])).toEqual(['insufficient_funds', 'insufficient_funds']);
  expect(await counted(ownerId)).toEqual(allOf(1));
  await move({ ownerId, to: one, amountCents: 1 });
  expect(await ask()).toMatchObject({ isReplayed: false, result: { amountCents: 11 } });
});

test('bad ones of each kind fail alone among good ones', async () => {
  const { ownerId, one, two } = await aPair(100);
  const [closed, frozen] = [await book.wallet(ownerId), await book.wallet(ownerId)];
  await book.asOwner(`update wallets set status = 'closed', closed_at = now() where id = $1`, [closed]);
  await book.asOwner(`update wallets set status = 'frozen' where id = $1`, [frozen]);
  const stranger = await book.owner();
  const each = (from: Id<'wallet'>, to: Id<'wallet'>, amountCents = 1) => move({ ownerId, from, to, amountCents });
  const all = [
    each(one, two),
    each(one, two, 1_000),
    each(one, one),
    each(closed, two),
    each(frozen, two),
    each(one, closed),
    each(stranger.walletId, two),
    each(one, stranger.walletId),
    each(newId('wallet'), two),
    move({ ownerId, to: two, amountCents: Number.MAX_SAFE_INTEGER }),
    each(one, frozen),
    each(one, two),
  ];
  expect(await codes(all)).toEqual([
    ...['done', 'insufficient_funds', 'invalid_request', 'invalid_state', 'invalid_state', 'invalid_state'],
    ...['invalid_request', 'not_found', 'invalid_request', 'invalid_request', 'done', 'done'],
  ]);
  expect(await balances(one, two)).toEqual([97, 2]);
  expect(await counted(ownerId)).toEqual(allOf(4));
});

test('a caller that is gone while it waits moves nothing, and the others are not disturbed', async () => {
  const { ownerId, one, two } = await aPair(100);
  const controller = new AbortController();
  const all = Array.from({ length: 6 }, (_, n) =>
    move({
      ownerId,
      from: one,
      to: two,
      amountCents: 1,
      key: `gone-${n}`,
      ...(n === 3 && { gone: () => controller.signal }),
    }),
  );
  controller.abort();
  expect(await codes(all)).toEqual(['done', 'done', 'done', 'unavailable', 'done', 'done']);
  expect(await balances(one, two)).toEqual([95, 5]);
});

test.each(['40P01', '40001'])(
  'batches that fail with %s are repeated, and each item takes effect once',
  async (code) => {
    const { ownerId, one, two } = await aPair(100);
    await book.asOwner('create sequence if not exists faults');
    await book.asOwner('alter sequence faults restart');
    await book.asOwner('grant usage on sequence faults to public');
    await book.asOwner(`create or replace function fail_twice() returns trigger language plpgsql as $$ begin
    if nextval('faults') in (2, 3, 5) then raise exception 'planted' using errcode = '${code}'; end if; return null; end $$`);
    await book.asOwner(
      `create trigger failing after insert on fundings for each statement execute function fail_twice()`,
    );
    try {
      const all = Array.from({ length: 20 }, (_, n) =>
        move({ ownerId, from: one, to: two, amountCents: 1, key: `fault-${n}` }),
      );
      expect(new Set(await codes(all))).toEqual(new Set(['done']));
    } finally {
      await book.asOwner('drop trigger failing on fundings');
    }
    expect(await balances(one, two)).toEqual([80, 20]);
    expect(await counted(ownerId)).toEqual(allOf(21, 20));
  },
);

test('an item with a fault of ours fails alone', async () => {
  const { ownerId, one, two } = await aPair(100);
  await book.asOwner(`create or replace function fail_always() returns trigger language plpgsql as $$ begin
    if new.amount_cents = 13 then raise exception 'planted'; end if; return new; end $$`);
  await book.asOwner('create trigger failing before insert on fundings for each row execute function fail_always()');
  try {
    const all = [1, 2, 13, 3, 4].map((amountCents) => move({ ownerId, from: one, to: two, amountCents }));
    expect(await codes(all)).toEqual(['done', 'done', 'P0001', 'done', 'done']);
  } finally {
    await book.asOwner('drop trigger failing on fundings');
  }
  expect(await balances(one, two)).toEqual([90, 10]);
});

test('killed connections: each item takes effect once, or is a 503 whose repeat finds or makes it', async () => {
  const { ownerId, one, two } = await aPair(1_000);
  const over = new AbortController();
  const killing = (async () => {
    while (!over.signal.aborted) {
      await book.asOwner(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and application_name = 'book'`,
      );
      await new Promise((resolve) => setTimeout(resolve, 7));
    }
  })();
  const ask = (n: number) => move({ ownerId, from: one, to: two, amountCents: 1, key: `kill-${n}` });
  const unknown: number[] = [];
  for (let round = 0; round < 6; round++) {
    const keys = Array.from({ length: 30 }, (_, n) => round * 30 + n);
    const found = await codes(
      keys.map((n) =>
        move({ ownerId, from: one, to: two, amountCents: 1, key: `kill-${n}` }, n % 2 ? elsewhere : book.database),
      ),
    );
    unknown.push(...keys.filter((_, i) => found[i] !== 'done'));
  }
  over.abort();
  await killing;
  // As careful clients do, until each has its answer: a connection that was killed may be found dead by the next call.
  let open = unknown;
  const repeat = async (): Promise<number> => {
    const found = await codes(open.map(ask));
    expect(found).not.toContain('insufficient_funds');
    open = open.filter((_, n) => found[n] !== 'done');
    return open.length;
  };
  await eventually(repeat, (left) => left === 0);
  const late = await eventually(
    () => Promise.allSettled(Array.from({ length: 180 }, (_, n) => ask(n))),
    (found) => found.every(({ status }) => status === 'fulfilled'),
  );
  for (const one of late) expect(one).toMatchObject({ value: { isReplayed: true } });
  expect(await balances(one, two)).toEqual([820, 180]);
  expect(await counted(ownerId)).toEqual(allOf(181, 180));
});

test('the rest of the limit of a day goes to the items that succeed', async () => {
  const { ownerId, one, two } = await aPair(10);
  await book.asOwner(`insert into owner_limits (owner_id, name, most, updated_at) values ($1, 'fundings', 5, now())`, [
    ownerId,
  ]);
  const all = [1, 100, 1, 100, 100, 1, 1, 1].map((amountCents) => move({ ownerId, from: one, to: two, amountCents }));
  expect(await codes(all)).toEqual([
    ...[
      'done',
      'insufficient_funds',
      'done',
      'insufficient_funds',
      'insufficient_funds',
      'done',
      'done',
      'invalid_state',
    ],
  ]);
  expect(await counted(ownerId)).toEqual(allOf(5));
});

test('while another transaction holds one owner’s account, the transfers of other owners go on', async () => {
  const [held, free] = [await aPair(100), await aPair(100)];
  const client = new pg.Client({ connectionString: book.ownerUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('select from ledger_accounts where name = $1 for update', [`wallet:${held.one}:available`]);
    const waiting = [1, 2, 3].map((amountCents) =>
      move({ ownerId: held.ownerId, from: held.one, to: held.two, amountCents, key: `held-${amountCents}` }),
    );
    for (let round = 0; round < 3; round++) {
      const others = [1, 2].map((amountCents) =>
        move({ ownerId: free.ownerId, from: free.one, to: free.two, amountCents }),
      );
      expect(await codes(others)).toEqual(['done', 'done']);
    }
    expect(await balances(free.one, free.two)).toEqual([91, 9]);
    expect(await balances(held.one, held.two)).toEqual([100, 0]);
    await client.query('rollback');
    expect(await codes(waiting)).toEqual(['done', 'done', 'done']);
  } finally {
    await client.end();
  }
  expect(await balances(held.one, held.two)).toEqual([94, 6]);
});

test('a batch that waits for an account holds none that comes after it, as every posting does', async () => {
  const { ownerId, one, two } = await aPair(100);
  await move({ ownerId, from: one, to: two, amountCents: 20 });
  const [first, second] = [one, two].map((wallet) => `wallet:${wallet}:available`).toSorted();
  const client = new pg.Client({ connectionString: book.ownerUrl });
  await client.connect();
  let waiting: Promise<unknown> | undefined;
  try {
    await client.query('begin');
    const lock = 'select from ledger_accounts where name = $1 for no key update nowait';
    await client.query(lock, [first]);
    waiting = move({ ownerId, from: one, to: two, amountCents: 1, key: 'in-order' });
    await someoneWaits({ sql: book.rows }, { statement: 'fund_wallets' });
    await client.query(lock, [second]);
    await client.query('commit');
  } finally {
    await client.end();
  }
  expect(await codes([waiting])).toEqual(['done']);
});

test('a batch that waited for accounts goes on from what was posted to them meanwhile', async () => {
  const [held, other] = [await aPair(100), await aPair(100)];
  await move({ ownerId: held.ownerId, from: held.one, to: held.two, amountCents: 20 });
  const client = new pg.Client({ connectionString: book.ownerUrl });
  await client.connect();
  let waiting: Promise<unknown>[] = [];
  try {
    await client.query('begin');
    const [id, referenceId] = [newId('journal'), newId('funding')];
    const journal = {
      ...{
        id,
        ownerId: held.ownerId,
        kind: 'internal_transfer',
        referenceType: 'fund',
        referenceId,
        cause: 'meanwhile',
      },
      ...{ requestId: 'meanwhile', createdAt: '2026-01-01T00:00:00.000Z' },
      postings: [
        { account: `wallet:${held.one}:available`, amountCents: -40 },
        { account: `wallet:${held.two}:available`, amountCents: 40 },
      ],
    };
    await client.query('select from post_journals($1::jsonb)', [JSON.stringify([journal])]);
    // The first one is written at once, and those that come meanwhile are one batch.
    const first = move({ ownerId: other.ownerId, from: other.one, to: other.two, amountCents: 1, key: 'first' });
    waiting = [1, 2, 3, 4].map((amountCents) => {
      const [from, to] = amountCents % 2 ? [held.one, held.two] : [held.two, held.one];
      return move({ ownerId: held.ownerId, from, to, amountCents, key: `waits-${amountCents}` });
    });
    await first;
    await someoneWaits({ sql: book.rows }, { statement: 'fund_wallets' });
    await client.query('commit');
  } finally {
    await client.end();
  }
  expect(await codes(waiting)).toEqual(['done', 'done', 'done', 'done']);
  expect(await balances(held.one, held.two)).toEqual([42, 58]);
  const broken = await book.rows(
    `select account, account_version from (
       select *, lag(balance_after_cents, 1, 0::bigint) over (partition by account order by account_version) as was
       from ledger_entries where account = any($1)
     ) e where balance_before_cents <> was`,
    [[held.one, held.two].map((wallet) => `wallet:${wallet}:available`)],
  );
  expect(broken).toEqual([]);
});

test('a call with the key of one that is refused asks for itself', async () => {
  const { ownerId, one, two } = await aPair();
  const ask = () => move({ ownerId, from: one, to: two, amountCents: 5, key: 'refused' });
  // The second call waits for the first, and the money comes in between.
  expect(await codes([ask(), move({ ownerId, to: one, amountCents: 5 }), ask()])).toEqual([
    ...['insufficient_funds', 'done', 'done'],
  ]);
  expect(await balances(one, two)).toEqual([0, 5]);
});
