/** The time of entries: on one account it never contradicts their order, however the clocks of the posters differ. @module */

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as z from 'zod';
import type { Database } from '../../src/db/database.ts';
import { oneRowOf, rowsOf } from '../../src/db/statement.ts';
import { available, held, receivable, wallet } from '../../src/domains/treasury/ledger/account.rules.ts';
import { listEntries } from '../../src/domains/treasury/ledger/entry.queries.ts';
import { entryIdForm } from '../../src/domains/treasury/ledger/entry.rules.ts';
import { authorization, clearing, fund, internalTransfer } from '../../src/domains/treasury/ledger/ledger.rules.ts';
import { type JournalDraft, postJournals } from '../../src/domains/treasury/ledger/ledger.service.ts';
import { sealJournals } from '../../src/domains/treasury/ledger/seal.service.ts';
import { decodeCursor } from '../../src/kernel/page.ts';
import { verifyOwner } from '../../src/usecases/treasury/verify-owner.ts';
import { at, type Book, because, draft, openBook } from './book.ts';

let book: Book;
beforeAll(async () => {
  book = await openBook();
});
afterAll(() => book.close());

const secondsLater = (seconds: number): Date => new Date(at.getTime() + 1_000 * seconds);

const postAt = (database: Database, seconds: number, ...drafts: JournalDraft[]) =>
  database.write((tx) => postJournals(tx, because('timed', secondsLater(seconds)), drafts));

const timesOf = async (account: string): Promise<Date[]> => {
  const entries = await rowsOf(
    book.database.read(),
    z.object({ at: z.date() }),
    'select created_at as at from ledger_entries where account = $1 order by account_version',
    [account],
  );
  return entries.map((entry) => entry.at);
};

test('1,200 entries by parallel posters with skewed clocks: none is older than the one before it on its account', async () => {
  const { ownerId, walletId } = await book.owner();
  const wallets = [walletId, await book.wallet(ownerId), await book.wallet(ownerId), await book.wallet(ownerId)];
  for (const id of wallets) await book.fund(ownerId, id, 1_000_000);
  const pools = [book.database, await book.elsewhere(), await book.elsewhere()];
  const post = async (n: number): Promise<void> => {
    const from = wallets[n % 4] ?? walletId;
    const to = wallets[(n + 1 + (n % 3)) % 4] ?? walletId;
    const postings = internalTransfer({ fromWalletId: from, toWalletId: to, amountCents: 1 });
    const clockSkew = (n * 37) % 11;
    const one = draft(ownerId, 'internal_transfer', postings, `skewed-${n}`);
    await postAt(pools[n % 3] ?? book.database, 60 + n / 100 + clockSkew, one);
  };
  await Promise.all(
    Array.from({ length: 24 }, async (_, poster) => {
      for (let n = poster; n < 600; n += 24) await post(n);
    }),
  );
  const found = await oneRowOf(
    book.database.read(),
    z.object({ entries: z.int(), late: z.int() }),
    `select count(*) as entries, count(*) filter (where created_at < before) as late from (
       select e.created_at, lag(e.created_at) over (partition by account order by account_version) as before
       from ledger_entries e join journals j on j.id = e.journal_id where j.owner_id = $1 and j.kind = 'internal_transfer'
     ) e`,
    [ownerId],
  );
  expect(found).toEqual({ entries: 1_200, late: 0 });
  while ((await book.database.write((tx) => sealJournals(tx))) > 0);
  expect(await verifyOwner(book)(ownerId, { full: true })).toMatchObject({ balanced: true, differences: [] });
});

test('a journal is as late as the last entry of any of its accounts, and not later', async () => {
  const { ownerId, walletId } = await book.owner();
  const [second, third] = [await book.wallet(ownerId), await book.wallet(ownerId)];
  const credit = (id: string, cause: string) =>
    draft(ownerId, 'fund', fund({ ownerId, to: wallet(id), amountCents: 100 }), `${cause}-${ownerId}`);
  const move = (fromWalletId: string, toWalletId: string, cause: string) =>
    draft(ownerId, 'internal_transfer', internalTransfer({ fromWalletId, toWalletId, amountCents: 10 }), cause);
  await postAt(book.database, 50, credit(walletId, 'late'));
  await postAt(book.database, 10, credit(second, 'early'));
  await postAt(book.database, 20, move(walletId, second, `behind-${ownerId}`));
  await postAt(book.database, 20, credit(third, 'apart'));
  expect(await timesOf(available(wallet(walletId)))).toEqual([50, 50].map(secondsLater));
  expect(await timesOf(available(wallet(second)))).toEqual([10, 50].map(secondsLater));
  expect(await timesOf(available(wallet(third)))).toEqual([secondsLater(20)]);

  const other = await book.owner();
  const early = draft(other.ownerId, 'fund', fund({ ...other, to: wallet(other.walletId), amountCents: 1 }), 'batch-0');
  const batch = [move(third, second, `batch-1-${ownerId}`), move(third, walletId, `batch-2-${ownerId}`), early];
  await postAt(book.database, 30, ...batch);
  expect(await timesOf(available(wallet(third)))).toEqual([20, 50, 50].map(secondsLater));
  expect(await timesOf(available(wallet(other.walletId)))).toEqual([secondsLater(30)]);
});

test('the entries of a receivable are in the order of time as well', async () => {
  const { ownerId, walletId } = await book.owner();
  const other = await book.wallet(ownerId);
  const over = (id: string) => clearing({ ownerId, from: wallet(id), amountCents: 100, heldCents: 0, isFinal: true });
  await postAt(book.database, 90, draft(ownerId, 'clearing', over(walletId), 'owe-1'));
  await postAt(book.database, 40, draft(ownerId, 'clearing', over(other), 'owe-2'));
  const credit = fund({ ownerId, to: wallet(other), amountCents: 500 });
  await postAt(book.database, 30, draft(ownerId, 'fund', credit, 'settle'));
  expect(await timesOf(receivable(ownerId))).toEqual([90, 90, 90].map(secondsLater));
  expect(await timesOf(available(wallet(other)))).toEqual([secondsLater(90)]);
});

test('the list of one account is in the order of its entries, page by page, where many have the same time', async () => {
  const { ownerId, walletId } = await book.owner();
  const from = wallet(walletId);
  await postAt(book.database, 80, draft(ownerId, 'fund', fund({ ownerId, to: from, amountCents: 9_000 }), 'start'));
  const holds = Array.from({ length: 23 }, (_, n) =>
    draft(ownerId, 'authorization', authorization({ ownerId, from, amountCents: n + 1 }), `hold-${n}`),
  );
  for (const one of holds.toReversed()) await postAt(book.database, 5, one);
  for (const account of [available(from), held(from)]) {
    const none = { agentId: undefined, referenceType: undefined, referenceId: undefined, direction: undefined };
    const filter = { ownerId, accounts: [account], from: undefined, to: undefined, ...none };
    const listed: (number | null)[][] = [];
    let after: { createdAt: string; id: string } | undefined;
    do {
      const { data, nextCursor } = await listEntries(book.database.read(), filter, { limit: 5, after });
      listed.push(...data.map((entry) => [entry.balanceBeforeCents, entry.balanceAfterCents]));
      after = nextCursor === null ? undefined : decodeCursor(nextCursor, entryIdForm);
    } while (after !== undefined);
    expect(listed).toHaveLength(account === held(from) ? 23 : 24);
    for (const [n, [, closing]] of listed.slice(1).entries()) expect(closing).toBe(listed[n]?.[0]);
  }
});
