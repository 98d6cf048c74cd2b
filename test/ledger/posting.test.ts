/** Posting against a real PostgreSQL: atomic, once per cause, never below zero, exact under contention. @module */

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as z from 'zod';
import { oneRowOf, runSql } from '../../src/db/statement.ts';
import type { Tx } from '../../src/db/tx.ts';
import { available, external, held, receivable, wallet } from '../../src/domains/treasury/ledger/account.rules.ts';
import { balancesOf } from '../../src/domains/treasury/ledger/ledger.queries.ts';
import {
  authorization,
  clearing,
  fund,
  internalTransfer,
  type Posting,
  refund,
} from '../../src/domains/treasury/ledger/ledger.rules.ts';
import {
  type JournalDraft,
  lockAccounts,
  postJournals,
  postNew,
} from '../../src/domains/treasury/ledger/ledger.service.ts';
import { newId } from '../../src/kernel/ids.ts';
import { cents } from '../../src/kernel/money.ts';
import { at, type Book, because, draft, openBook } from './book.ts';

let book: Book;
beforeAll(async () => {
  book = await openBook();
});
afterAll(() => book.close());

const balance = async (account: string): Promise<number | undefined> =>
  (await balancesOf(book.database.read(), [account]))[account];

test('a purchase moves from available to held to the cards account, and each entry has the balance before and after', async () => {
  const { ownerId, walletId } = await book.owner();
  const from = wallet(walletId);
  await book.fund(ownerId, walletId, 10_000);
  await book.post(ownerId, 'authorization', authorization({ ownerId, from, amountCents: 3_000 }));
  const cleared = await book.post(
    ownerId,
    'clearing',
    clearing({
      ownerId,
      from,
      amountCents: 2_500,
      heldCents: 3_000,
      isFinal: true,
    }),
  );
  expect(cleared.balances).toEqual({ [available(from)]: 7_500, [held(from)]: 0 });
  const entries = await book.rows(
    `select account, amount_cents, balance_before_cents, balance_after_cents, account_version
     from ledger_entries where journal_id = $1 order by line`,
    [cleared.journalId],
  );
  expect(entries).toEqual([
    {
      account: held(from),
      amount_cents: -3_000,
      balance_before_cents: 3_000,
      balance_after_cents: 0,
      account_version: 2,
    },
    {
      account: available(from),
      amount_cents: 500,
      balance_before_cents: 7_000,
      balance_after_cents: 7_500,
      account_version: 3,
    },
    {
      account: external('cards', ownerId),
      amount_cents: 2_500,
      balance_before_cents: null,
      balance_after_cents: null,
      account_version: null,
    },
  ]);
});

test('a clearing above hold and wallet is owed, and the next credit settles it in a separate journal', async () => {
  const { ownerId, walletId } = await book.owner();
  const from = wallet(walletId);
  await book.fund(ownerId, walletId, 1_000);
  const over = {
    ownerId,
    from,
    amountCents: 1_700,
    heldCents: 0,
    isFinal: true,
  };
  const cleared = await book.post(ownerId, 'clearing', clearing(over));
  expect(cleared).toMatchObject({ owedCents: 700, balances: { [available(from)]: 0, [receivable(ownerId)]: 700 } });
  expect(await balance(receivable(ownerId))).toBe(700);
  const back = await book.post(ownerId, 'refund', refund({ ownerId, to: from, amountCents: 900 }));
  expect(back).toMatchObject({ owedCents: -700, balances: { [receivable(ownerId)]: 0, [available(from)]: 200 } });
});

test('the same cause posts once, however often it is repeated, and answers with the same journal', async () => {
  const { ownerId, walletId } = await book.owner();
  const first = await book.post(ownerId, 'fund', fundLines(ownerId, walletId, 500), 'top-up');
  const again = await book.post(ownerId, 'fund', fundLines(ownerId, walletId, 500), 'top-up');
  expect([first.outcome, again.outcome]).toEqual(['posted', 'already']);
  expect(again).toEqual({ ...first, outcome: 'already' });
  const twice = await book.database.write((tx) =>
    postJournals(tx, because('twice'), [
      draft(ownerId, 'fund', fundLines(ownerId, walletId, 1), 'twice'),
      draft(ownerId, 'fund', fundLines(ownerId, walletId, 1), 'twice'),
    ]),
  );
  expect(twice.map(({ outcome }) => outcome)).toEqual(['posted', 'already']);
  const parallel = await Promise.all(
    Array.from({ length: 12 }, () => book.post(ownerId, 'fund', fundLines(ownerId, walletId, 7), 'parallel')),
  );
  expect(parallel.filter(({ outcome }) => outcome === 'posted')).toHaveLength(1);
  expect(new Set(parallel.map(({ journalId }) => journalId)).size).toBe(1);
  expect(await balance(available(wallet(walletId)))).toBe(508);
});

test('the same cause with other content is an error, whatever differs, and other ids, times and salts are not content', async () => {
  const { ownerId, walletId } = await book.owner();
  const other = await book.wallet(ownerId);
  await book.fund(ownerId, walletId, 1_000);
  const memo = 'Dinner with Anna';
  const first = { ...draft(ownerId, 'internal_transfer', transfer(walletId, other, 100), 'move'), memo };
  const post = (change: Partial<JournalDraft>, seconds = 0) =>
    book.database.write((tx) =>
      postJournals(tx, because('move', new Date(at.getTime() + 1_000 * seconds)), [
        { ...first, id: newId('journal'), ...change },
      ]),
    );
  const [posted] = await post({});
  expect(await post({}, 60)).toEqual([{ ...posted, outcome: 'already' }]);
  const others: Partial<JournalDraft>[] = [
    { postings: transfer(walletId, other, 101) },
    { postings: transfer(other, walletId, 100) },
    { postings: fund({ ownerId, to: wallet(other), amountCents: 100 }) },
    { kind: 'adjustment' },
    { referenceId: 'another' },
    { referenceType: 'fund' },
    { agentId: newId('agent') },
    { memo: 'Dinner with Berta' },
    { memo: null },
  ];
  for (const change of others) await expect(post(change)).rejects.toMatchObject({ code: 'BL006' });
  // Erasing the text takes nothing of the check of the rest.
  await book.asOwner('delete from journal_texts where journal_id = $1', [posted?.journalId]);
  expect(await post({})).toMatchObject([{ outcome: 'already' }]);
  await expect(post({ postings: transfer(walletId, other, 102) })).rejects.toMatchObject({ code: 'BL006' });
  expect(await balance(available(wallet(other)))).toBe(100);
});

test('of two concurrent postings of one cause with different contents, one fails', async () => {
  const { ownerId, walletId } = await book.owner();
  for (let round = 0; round < 10; round++) {
    const accounts = [walletId, round % 2 ? walletId : await book.wallet(ownerId)];
    const both = await Promise.allSettled(
      accounts.map((id, n) => book.post(ownerId, 'fund', fundLines(ownerId, id, 5 + n), `race-${round}`)),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    for (const one of both) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'BL006' });
  }
});

test('a journal without stored contents is accepted', async () => {
  const { ownerId, walletId } = await book.owner();
  await book.post(ownerId, 'fund', fundLines(ownerId, walletId, 10), 'old');
  await book.rewrite('update journals set content_hash = null where owner_id = $1', [ownerId]);
  expect(await book.post(ownerId, 'fund', fundLines(ownerId, walletId, 11), 'old')).toMatchObject({
    outcome: 'already',
  });
  expect(await balance(available(wallet(walletId)))).toBe(10);
});

test('a caller that expects a first posting is refused when it is a repeat', async () => {
  const { ownerId, walletId } = await book.owner();
  const one = () => draft(ownerId, 'fund', fundLines(ownerId, walletId, 10), 'first');
  const first = () => book.database.write((tx) => postNew(tx, because('first'), [one()]));
  expect(await first()).toMatchObject([{ outcome: 'posted' }]);
  await expect(first()).rejects.toThrow('first is posted for the first time');
});

const most = Number.MAX_SAFE_INTEGER;

test('amounts up to 2^53 - 1 cents are exact, and beyond that a posting is refused, not wrong', async () => {
  const { ownerId, walletId } = await book.owner();
  const other = await book.wallet(ownerId);
  const name = available(wallet(walletId));
  await book.post(ownerId, 'fund', fundLines(ownerId, walletId, most));
  expect(await balance(name)).toBe(most);
  const onemore = book.post(ownerId, 'fund', fundLines(ownerId, walletId, 1));
  await expect(onemore).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringMatching(/larger/) });
  const raw = (amount: string, count = 1) => {
    const credit = `{"account": "${available(wallet(other))}", "amountCents": ${amount}}`;
    const debit = `{"account": "${external('cards', ownerId)}", "amountCents": -${amount}}`;
    const postings = [...Array(count).fill(credit), ...Array(count).fill(debit)].join();
    const facts = { ...draft(ownerId, 'fund', [], `raw-${amount}-${count}`), requestId: 'raw', createdAt: at };
    const journal = JSON.stringify(facts).replace('[]', `[${postings}]`);
    return runSql(book.database.read(), 'select * from post_journals($1::jsonb)', [`[${journal}]`]);
  };
  for (const amount of ['9007199254740992', '1e18', '9223372036854775807', '1e30', '0.5'])
    await expect(raw(amount)).rejects.toMatchObject({ code: 'BL005' });
  const range = { constraint: 'ledger_accounts_within_range' };
  await expect(raw(String(most), 2)).rejects.toMatchObject(range);
  await expect(raw(String(most), 40)).rejects.toMatchObject(range);
  await book.post(ownerId, 'internal_transfer', transfer(walletId, other, most));
  expect(await balance(available(wallet(other)))).toBe(most);
});

test('the same cause of another owner is another cause', async () => {
  const [one, two] = [await book.owner(), await book.owner()];
  const posted = [
    await book.post(one.ownerId, 'fund', fundLines(one.ownerId, one.walletId, 5), 'shared-name'),
    await book.post(two.ownerId, 'fund', fundLines(two.ownerId, two.walletId, 5), 'shared-name'),
  ];
  expect(posted.map(({ outcome }) => outcome)).toEqual(['posted', 'posted']);
});

test('a shortage is refused with the figures and the call writes nothing', async () => {
  const { ownerId, walletId } = await book.owner();
  const other = await book.wallet(ownerId);
  await book.fund(ownerId, walletId, 1_200);
  const twoSteps = book.database.write((tx) =>
    postJournals(tx, because('two-steps'), [
      draft(ownerId, 'internal_transfer', transfer(walletId, other, 700), 'step-1'),
      draft(ownerId, 'internal_transfer', transfer(walletId, other, 5_000), 'step-2'),
    ]),
  );
  await expect(twoSteps).rejects.toMatchObject({
    code: 'insufficient_funds',
    message: `wallet ${walletId} has 5.00 euros available, 50.00 asked: fund it, or ask for less`,
  });
  expect(await balance(available(wallet(walletId)))).toBe(1_200);
  expect(await balance(available(wallet(other)))).toBe(0);
});

test('money may pass through an account within one call, in the order of the journals', async () => {
  const { ownerId, walletId } = await book.owner();
  const [second, third] = [await book.wallet(ownerId), await book.wallet(ownerId)];
  await book.fund(ownerId, walletId, 100);
  await book.database.write((tx) =>
    postJournals(tx, because('through'), [
      draft(ownerId, 'internal_transfer', transfer(walletId, second, 100), 'through-1'),
      draft(ownerId, 'internal_transfer', transfer(second, third, 100), 'through-2'),
    ]),
  );
  expect(await balance(available(wallet(third)))).toBe(100);
});

test.each([
  [
    'lines that do not sum to zero',
    (o: Owner) => [line(available(wallet(o.walletId)), 5), line(external('cards', o.ownerId), -4)],
  ],
  ['a single line', (o: Owner) => [line(available(wallet(o.walletId)), 0)]],
  ['no line', () => []],
  ['an account of no known kind', (o: Owner) => [line('pocket:1', 5), line(external('cards', o.ownerId), -5)]],
  [
    'a wallet that does not exist',
    (o: Owner) => [line(available(wallet(newId('wallet'))), 5), line(external('cards', o.ownerId), -5)],
  ],
  [
    'a contra account of another owner',
    (o: Owner) => [line(available(wallet(o.walletId)), 5), line(external('cards', newId('owner')), -5)],
  ],
  [
    'a receivable of another owner',
    (o: Owner) => [line(receivable(newId('owner')), -5), line(external('cards', o.ownerId), 5)],
  ],
])('a journal with %s is a bug and is not written', async (_what, lines) => {
  const owner = await book.owner();
  const posted = book.post(owner.ownerId, 'adjustment', lines(owner), 'bad');
  await expect(posted).rejects.toMatchObject({ code: expect.stringMatching(/^BL00[23]$/) });
  expect(await book.rows('select 1 from journals where owner_id = $1', [owner.ownerId])).toEqual([]);
});

test("another owner's wallet is never posted to, whether its account exists yet or not", async () => {
  const [one, two] = [await book.owner(), await book.owner()];
  const steal = [line(available(wallet(two.walletId)), -5), line(available(wallet(one.walletId)), 5)];
  await expect(book.post(one.ownerId, 'adjustment', steal, 'steal-1')).rejects.toMatchObject({ code: 'BL003' });
  await book.fund(two.ownerId, two.walletId, 100);
  await expect(book.post(one.ownerId, 'adjustment', steal, 'steal-2')).rejects.toMatchObject({ code: 'BL003' });
  const lock = book.database.write((tx) =>
    lockAccounts(tx, because('lock'), one.ownerId, [available(wallet(two.walletId))]),
  );
  await expect(lock).rejects.toMatchObject({ code: 'BL003' });
  expect(await balance(available(wallet(two.walletId)))).toBe(100);
});

test('50 parallel postings on one hot account from several pools end exact, without a deadlock', async () => {
  const { ownerId, walletId } = await book.owner();
  const others = await Promise.all(Array.from({ length: 5 }, () => book.wallet(ownerId)));
  await book.fund(ownerId, walletId, 40 * 10);
  const pools = [book.database, await book.elsewhere(), await book.elsewhere()];
  const before = await deadlocks();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, async (_, n) => {
      const database = pools[n % pools.length] ?? book.database;
      const there = others[n % others.length] as string;
      return database.write((tx) =>
        postJournals(tx, because(`hot-${n}`), [
          draft(ownerId, 'internal_transfer', transfer(walletId, there, 10), `hot-${n}`),
        ]),
      );
    }),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(40);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'insufficient_funds' });
  }
  expect(await balance(available(wallet(walletId)))).toBe(0);
  const all = await balancesOf(
    book.database.read(),
    others.map((id) => available(wallet(id))),
  );
  expect(Object.values(all).reduce((sum, part) => sum + part, 0)).toBe(400);
  expect(await deadlocks()).toBe(before);
});

test('transfers in both directions between the same two wallets never deadlock', async () => {
  const { ownerId, walletId } = await book.owner();
  const other = await book.wallet(ownerId);
  await book.fund(ownerId, walletId, 10_000);
  await book.fund(ownerId, other, 10_000);
  const before = await deadlocks();
  await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      book.post(ownerId, 'internal_transfer', n % 2 ? transfer(walletId, other, 10) : transfer(other, walletId, 10)),
    ),
  );
  expect(await balance(available(wallet(walletId)))).toBe(10_000);
  expect(await deadlocks()).toBe(before);
});

test('a transaction that fails after posting leaves no row, and its cause can be posted again', async () => {
  const { ownerId, walletId } = await book.owner();
  const died = book.database.write(async (tx) => {
    await postJournals(tx, because('dies'), [draft(ownerId, 'fund', fundLines(ownerId, walletId, 100), 'dies')]);
    throw new Error('the process died here');
  });
  await expect(died).rejects.toThrow('died here');
  expect(await balance(available(wallet(walletId)))).toBe(0);
  const again = await book.post(ownerId, 'fund', fundLines(ownerId, walletId, 100), 'dies');
  expect(again.outcome).toBe('posted');
});

test('a transaction locks its accounts in one call: a second one, or a posting to another account, is an error', async () => {
  const { ownerId, walletId } = await book.owner();
  const other = await book.wallet(ownerId);
  const [one, two] = [available(wallet(walletId)), available(wallet(other))];
  await book.fund(ownerId, walletId, 100);
  const within = (...steps: ((tx: Tx) => Promise<unknown>)[]) =>
    book.database.write(async (tx) => {
      for (const step of steps) await step(tx);
    });
  const lock =
    (...names: (typeof one)[]) =>
    (tx: Tx) =>
      lockAccounts(tx, because('one-lock'), ownerId, names);
  const post = (postings: Posting[]) => (tx: Tx) =>
    postJournals(tx, because('one-lock'), [draft(ownerId, 'adjustment', postings, newId('journal'))]);
  const second = { code: 'BL004' };
  await expect(within(lock(one), lock(two))).rejects.toMatchObject(second);
  await expect(within(lock(two), lock(one, two))).rejects.toMatchObject(second);
  await expect(within(lock(one), post(transfer(walletId, other, 1)))).rejects.toMatchObject(second);
  await expect(within(post(fundLines(ownerId, walletId, 1)), post(transfer(walletId, other, 1)))).rejects.toMatchObject(
    second,
  );
  expect(await balance(one)).toBe(100);
  await within(lock(one, two), lock(one), post(transfer(walletId, other, 30)), post(transfer(other, walletId, 10)));
  expect(await balance(one)).toBe(80);
});

test('the receivable is locked last, and only when an amount is or becomes owed', async () => {
  const { ownerId, walletId } = await book.owner();
  const from = wallet(walletId);
  await book.fund(ownerId, walletId, 100);
  const clear = (amountCents: number) => clearing({ ownerId, from, amountCents, heldCents: 0, isFinal: true });
  const lockedBy = (postings: readonly Posting[]): Promise<string> =>
    book.database.write(async (tx) => {
      await postJournals(tx, because('locks'), [draft(ownerId, 'clearing', postings, newId('journal'))]);
      return (
        await oneRowOf(tx, z.object({ held: z.string() }), `select current_setting('bursar.locked_accounts') as held`)
      ).held;
    });
  expect(await lockedBy(clear(60))).toBe(available(from));
  expect(await book.rows('select 1 from ledger_accounts where name = $1', [receivable(ownerId)])).toEqual([]);
  expect(await lockedBy(clear(60))).toBe([available(from), receivable(ownerId)].join());
  expect(await balance(receivable(ownerId))).toBe(20);
  expect(await lockedBy(fund({ ownerId, to: from, amountCents: 30 }))).toContain(receivable(ownerId));
  expect(await lockedBy(fund({ ownerId, to: from, amountCents: 30 }))).toBe(available(from));
  expect(await balance(available(from))).toBe(40);
});

test('concurrent clearings above the balance, credits and transfers on two wallets never deadlock', async () => {
  const { ownerId, walletId } = await book.owner();
  const other = await book.wallet(ownerId);
  const before = await deadlocks();
  const cards = { ownerId, amountCents: 70, heldCents: 0, isFinal: true };
  await Promise.all(
    Array.from({ length: 90 }, async (_, n) => {
      const [here, there] = n % 2 ? [walletId, other] : [other, walletId];
      const steps = [
        () => book.post(ownerId, 'clearing', clearing({ ...cards, from: wallet(here) })),
        () => book.fund(ownerId, there, 60),
        () =>
          book.database.write(async (tx) => {
            await lockAccounts(tx, because(`both-${n}`), ownerId, [available(wallet(here)), available(wallet(there))]);
            const credit = fund({ ownerId, to: wallet(here), amountCents: 10 });
            return postJournals(tx, because(`both-${n}`), [draft(ownerId, 'fund', credit, `both-${n}`)]);
          }),
      ];
      await steps[n % 3]?.();
    }),
  );
  expect(await deadlocks()).toBe(before);
  const owed = (await balance(receivable(ownerId))) ?? 0;
  const there = Object.values(
    await balancesOf(
      book.database.read(),
      [walletId, other].map((id) => available(wallet(id))),
    ),
  );
  expect(there.reduce((sum, part) => sum + part, -owed)).toBe(30 * (60 + 10 - 70));
});

test('locked balances stay as they were read until the transaction ends', async () => {
  const { ownerId, walletId } = await book.owner();
  const name = available(wallet(walletId));
  const other = await book.wallet(ownerId);
  await book.fund(ownerId, walletId, 100);
  let rival: Promise<unknown> = Promise.resolve();
  const seen = await book.database.write(async (tx) => {
    const locked = await lockAccounts(tx, because('locking'), ownerId, [name]);
    rival = book.post(ownerId, 'internal_transfer', transfer(walletId, other, 60));
    await new Promise((resolve) => setTimeout(resolve, 50));
    return [locked, await balancesOf(tx, [name])];
  });
  expect(seen).toEqual([{ [name]: 100 }, { [name]: 100 }]);
  await rival;
  expect(await balance(name)).toBe(40);
});

test.each([
  'update journals set kind = $$fund$$',
  'delete from journals',
  'update ledger_entries set amount_cents = amount_cents * 2',
  'delete from ledger_entries',
  'truncate ledger_entries',
  'truncate journals cascade',
  'truncate journal_seals',
])('the book is append-only: %s', async (statement) => {
  const { ownerId, walletId } = await book.owner();
  await book.fund(ownerId, walletId, 1);
  await expect(book.asOwner(statement)).rejects.toThrow(/append-only/);
});

test('a text can be erased, its journal cannot', async () => {
  const { ownerId, walletId } = await book.owner();
  const id = newId('journal');
  await book.database.write((tx) =>
    postJournals(tx, because('memo', at), [
      { ...draft(ownerId, 'fund', fundLines(ownerId, walletId, 1), 'memo'), id, memo: 'Dinner with Anna' },
    ]),
  );
  await book.asOwner('delete from journal_texts where journal_id = $1', [id]);
  const dump = await book.rows('select row_to_json(journals)::text as row from journals where id = $1', [id]);
  expect(dump).toEqual([{ row: expect.stringContaining(id) }]);
  expect(JSON.stringify(dump)).not.toContain('Anna');
});

type Owner = { ownerId: string; walletId: string };

const line = (account: string, amountCents: number): Posting => ({
  account: account as Posting['account'],
  amountCents: cents(amountCents),
});

const fundLines = (ownerId: string, walletId: string, amountCents: number): Posting[] => [
  line(external('processor', ownerId), -amountCents),
  line(available(wallet(walletId)), amountCents),
];

const transfer = (fromWalletId: string, toWalletId: string, amountCents: number): Posting[] =>
  internalTransfer({ fromWalletId, toWalletId, amountCents });

async function deadlocks(): Promise<number> {
  const row = await oneRowOf(
    book.database.read(),
    z.object({ deadlocks: z.int() }),
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  return row.deadlocks;
}
