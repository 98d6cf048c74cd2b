/** Posting several journals of which each stands for itself, against a real PostgreSQL, as functions of atomic writes do. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { available, external, receivable, wallet } from '../../src/domains/treasury/ledger/account.rules.ts';
import { clearing, fund, internalTransfer, type Posting } from '../../src/domains/treasury/ledger/ledger.rules.ts';
import { newId } from '../../src/kernel/ids.ts';
import { cents } from '../../src/kernel/money.ts';
import { at, type Book, openBook } from './book.ts';

let book: Book;
let owner: pg.Client;
beforeAll(async () => {
  book = await openBook();
  owner = new pg.Client({ connectionString: book.ownerUrl });
  await owner.connect();
});
afterAll(async () => {
  await owner.end();
  await book.close();
});

type Side = { readonly ownerId: string; readonly wallets: readonly string[] };
type Journal = { readonly cause: string; readonly postings: readonly Posting[]; readonly seconds?: number };
type Row = { outcome: string; balances: Record<string, number>; owed_cents: string; detail: object | null };

async function aSide(): Promise<Side> {
  const { ownerId, walletId } = await book.owner();
  return { ownerId, wallets: [walletId, await book.wallet(ownerId), await book.wallet(ownerId)] };
}

type Posted = { readonly isNew?: boolean; readonly by?: pg.Client };

const post = async (
  { ownerId }: Side,
  journals: readonly Journal[],
  { isNew = false, by = owner }: Posted = {},
): Promise<Row[]> => {
  const records = journals.map(({ cause, postings, seconds = 0 }) => ({
    ...{ id: newId('journal'), ownerId, kind: 'adjustment', referenceType: 'adjustment', referenceId: 'test', cause },
    ...{ postings, requestId: 'each', createdAt: new Date(at.getTime() + 1_000 * seconds).toISOString() },
  }));
  const text = 'select outcome, balances, owed_cents, detail from post_each($1::jsonb, $2) order by ordinal';
  return (await by.query<Row>(text, [JSON.stringify(records), isNew])).rows;
};

const line = (account: string, amountCents: number): Posting => ({
  account: account as Posting['account'],
  amountCents: cents(amountCents),
});

/** The same for both sides: their ids by number, and no ids of journals. */
const told = (side: Side, value: unknown): unknown =>
  JSON.parse(
    side.wallets
      .reduce((text, id, n) => text.replaceAll(id, `wallet-${n}`), JSON.stringify(value))
      .replaceAll(side.ownerId, 'owner')
      .replaceAll(/jr_\w{26}/g, 'journal'),
  );

/** Entries, balances and seals-to-be of an owner, in order. */
const bookOf = async (side: Side): Promise<unknown> => {
  const { rows: entries } = await owner.query(
    `select j.cause, e.line, e.account, e.amount_cents, e.balance_before_cents, e.balance_after_cents, e.account_version,
       e.created_at from unsealed_journals u join journals j on j.id = u.journal_id
     join ledger_entries e on e.journal_id = j.id where u.owner_id = $1 order by u.position, e.line`,
    [side.ownerId],
  );
  const { rows: accounts } = await owner.query(
    `select name, balance_cents, debited_cents, credited_cents, version, last_entry_at from ledger_accounts
     where owner_id = $1 and version > 0`,
    [side.ownerId],
  );
  const known = told(side, { entries, accounts }) as { entries: unknown; accounts: { name: string }[] };
  return { ...known, accounts: known.accounts.toSorted((a, b) => a.name.localeCompare(b.name)) };
};

const someWallet = fc.integer({ min: 0, max: 2 });
const someCents = fc.constantFrom(1, 5, 40, 100, 700);
type Make = (side: Side) => readonly Posting[];

/** Good and bad ones of every kind. */
const somePostings: fc.Arbitrary<Make> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(someWallet, someWallet, someCents).map(
      ([from, to, amountCents]): Make =>
        (side) =>
          internalTransfer({ fromWalletId: side.wallets[from] ?? '', toWalletId: side.wallets[to] ?? '', amountCents }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(someWallet, someCents).map(
      ([to, amountCents]): Make =>
        ({ ownerId, wallets }) =>
          fund({ ownerId, to: wallet(wallets[to] ?? ''), amountCents: cents(amountCents) }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(someWallet, someCents).map(
      ([from, amountCents]): Make =>
        ({ ownerId, wallets }) =>
          clearing({ ownerId, from: wallet(wallets[from] ?? ''), amountCents, heldCents: 0, isFinal: true }),
    ),
  },
  fc.constant((): readonly Posting[] => []),
  someWallet.map(
    (n): Make =>
      ({ ownerId, wallets }) => [line(available(wallet(wallets[n] ?? '')), 5), line(external('cards', ownerId), -4)],
  ),
  fc.constant(({ ownerId }: Side): readonly Posting[] => [
    line(available(wallet(newId('wallet'))), 5),
    line(external('cards', ownerId), -5),
  ]),
  someWallet.map(
    (n): Make =>
      ({ wallets }) => [line(available(wallet(wallets[n] ?? '')), 5), line(external('cards', newId('owner')), -5)],
  ),
  someWallet.map(
    (n): Make =>
      ({ ownerId, wallets }) => [
        line(available(wallet(wallets[n] ?? '')), Number.MAX_SAFE_INTEGER),
        line(external('cards', ownerId), -Number.MAX_SAFE_INTEGER),
      ],
  ),
);
const someJournals = fc.array(
  fc.record({
    cause: fc.integer({ min: 0, max: 12 }),
    make: somePostings,
    seconds: fc.integer({ min: 0, max: 3 }),
    repeats: fc.integer({ min: 0, max: 9 }),
  }),
  { minLength: 1, maxLength: 14 },
);

test('a batch of n is n batches of one: outcomes, figures, entries, times and order', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(someJournals, async (journals) => {
      const [together, apart] = [await aSide(), await aSide()];
      const of = (side: Side): Journal[] =>
        journals.map((one, n) => {
          // Some repeat an earlier one.
          const { cause, make } = journals[n - one.repeats] ?? one;
          return { cause: `cause-${cause}`, postings: make(side), seconds: one.seconds };
        });
      const batch = await post(together, of(together));
      const singles: Row[] = [];
      for (const one of of(apart)) singles.push(...(await post(apart, [one])));
      const shown = (side: Side, rows: Row[]) =>
        told(
          side,
          rows.map(({ detail, ...row }) => ({ ...row, ...figures(detail) })),
        );
      expect(shown(together, batch)).toEqual(shown(apart, singles));
      expect(await bookOf(together)).toEqual(await bookOf(apart));
      for (const { outcome } of batch) seen.add(outcome);
      const { rows } = await owner.query(
        `select (select coalesce(sum(amount_cents), 0) from ledger_entries e join journals j on j.id = e.journal_id
           where j.owner_id = $1)::int as off, (select min(balance_cents) from ledger_accounts where owner_id = $1)::text as least`,
        [together.ownerId],
      );
      expect(rows[0].off).toBe(0);
      expect(Number(rows[0].least ?? 0)).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 40, seed: 8_400 },
  );
  expect([...seen].toSorted()).toEqual([
    ...['already', 'foreign_account', 'not_enough', 'other_content', 'out_of_range', 'posted', 'unbalanced'],
  ]);
}, 120_000);

/** Messages name ids that were never stored. */
const figures = (detail: object | null): object => {
  const { message: _, ...rest } = { message: '', ...detail };
  return rest;
};

test('a batch with one bad journal of each kind posts the others', async () => {
  const side = await aSide();
  const { ownerId, wallets } = side;
  const [one = '', two = ''] = wallets;
  await post(side, [{ cause: 'before', postings: fund({ ownerId, to: wallet(one), amountCents: cents(100) }) }]);
  const move = (amountCents: number) => internalTransfer({ fromWalletId: one, toWalletId: two, amountCents });
  const stranger = await book.owner();
  const rows = await post(side, [
    { cause: 'first', postings: move(60) },
    { cause: 'too much', postings: move(41) },
    { cause: 'before', postings: move(1) },
    {
      cause: 'stranger',
      postings: internalTransfer({ fromWalletId: stranger.walletId, toWalletId: one, amountCents: 1 }),
    },
    { cause: 'off', postings: [line(available(wallet(one)), 1), line(available(wallet(two)), 1)] },
    {
      cause: 'huge',
      postings: [
        line(available(wallet(two)), Number.MAX_SAFE_INTEGER),
        line(external('cards', ownerId), -Number.MAX_SAFE_INTEGER),
      ],
    },
    { cause: 'first', postings: move(60) },
    { cause: 'last', postings: move(40) },
  ]);
  expect(rows.map(({ outcome }) => outcome)).toEqual([
    ...['posted', 'not_enough', 'other_content', 'foreign_account', 'unbalanced', 'out_of_range', 'already', 'posted'],
  ]);
  expect(rows[1]?.detail).toMatchObject({ account: available(wallet(one)), balanceCents: 40, askedCents: 41 });
  expect(rows[7]?.balances).toEqual({ [available(wallet(one))]: 0, [available(wallet(two))]: 100 });
});

test('what is owed is settled by a later journal of the same batch, and a refused one in between owes nothing', async () => {
  const side = await aSide();
  const { ownerId, wallets } = side;
  const [one = '', two = ''] = wallets;
  const rows = await post(side, [
    { cause: 'over', postings: clearing({ ownerId, from: wallet(one), amountCents: 70, heldCents: 0, isFinal: true }) },
    { cause: 'none', postings: internalTransfer({ fromWalletId: one, toWalletId: two, amountCents: 1 }) },
    { cause: 'in', postings: fund({ ownerId, to: wallet(two), amountCents: cents(100) }) },
  ]);
  expect(rows.map(({ outcome, owed_cents }) => [outcome, Number(owed_cents)])).toEqual([
    ['posted', 70],
    ['not_enough', 0],
    ['posted', -70],
  ]);
  expect(rows[2]?.balances).toEqual({ [receivable(ownerId)]: 0, [available(wallet(two))]: 30 });
});

const transferOf = ({ wallets: [from = '', to = ''] }: Side, cause: string): Journal => ({
  cause,
  postings: internalTransfer({ fromWalletId: from, toWalletId: to, amountCents: 40 }),
});

test('of journals that the caller knows to be new only the outcome is answered; one that is not new ends everything', async () => {
  const side = await aSide();
  await book.fund(side.ownerId, side.wallets[0] ?? '', 1_000);
  expect(await post(side, [transferOf(side, 'one')], { isNew: true })).toEqual([
    { outcome: 'posted', balances: {}, owed_cents: '0', detail: null },
  ]);
  const before = await bookOf(side);
  await expect(post(side, [transferOf(side, 'two'), transferOf(side, 'one')], { isNew: true })).rejects.toMatchObject({
    code: '40001',
  });
  expect(await bookOf(side)).toEqual(before);
});

test('a cause that was posted while this transaction waited for its accounts is not posted again', async () => {
  const side = await aSide();
  await book.fund(side.ownerId, side.wallets[0] ?? '', 100);
  const names = side.wallets.slice(0, 2).map((id) => available(wallet(id)));
  const other = new pg.Client({ connectionString: book.ownerUrl });
  await other.connect();
  try {
    await owner.query('begin');
    await other.query('begin');
    const locking = 'select from lock_accounts($1, $2, now())';
    await owner.query(locking, [side.ownerId, names]);
    expect(await post(side, [transferOf(side, 'both')])).toMatchObject([{ outcome: 'posted' }]);
    const waiting = other.query(locking, [side.ownerId, names]);
    await owner.query('commit');
    await waiting;
    const [again] = await post(side, [transferOf(side, 'both')], { by: other });
    expect(again).toMatchObject({ outcome: 'already', balances: { [names[0] ?? '']: 60, [names[1] ?? '']: 40 } });
    await other.query('commit');
  } finally {
    await owner.query('rollback');
    await other.end();
  }
  expect(await bookOf(side)).toMatchObject({
    accounts: expect.arrayContaining([expect.objectContaining({ balance_cents: '60' })]),
  });
});
