/**
 * Whole calls of several journals and owners, one after another and at once, against the real book: lines, balances and
 * times are those of plain arithmetic, also at the largest amounts.
 * @module
 */

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod';
import { rowsOf } from '../../src/db/statement.ts';
import {
  available,
  balanceChange,
  hasRunningBalance,
  held,
  receivable,
  wallet,
} from '../../src/domains/treasury/ledger/account.rules.ts';
import { balancesOf } from '../../src/domains/treasury/ledger/ledger.queries.ts';
import {
  authorization,
  clearing,
  fund,
  internalTransfer,
  type Posting,
  refund,
  release,
} from '../../src/domains/treasury/ledger/ledger.rules.ts';
import { type JournalDraft, postJournals } from '../../src/domains/treasury/ledger/ledger.service.ts';
import { sealJournals } from '../../src/domains/treasury/ledger/seal.service.ts';
import { verifyOwner } from '../../src/usecases/treasury/verify-owner.ts';
import { settled } from '../support/settlement.ts';
import { acceptHoldsWithoutTransactions, at, type Book, because, draft, openBook } from './book.ts';

let book: Book;
beforeAll(async () => {
  book = await openBook();
  await acceptHoldsWithoutTransactions(book);
});
afterAll(() => book.close());

const amount = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 3_000 }));
const kinds = ['fund', 'refund', 'authorization', 'clearing', 'release', 'transfer'] as const;
const oneJournal = fc.record({
  kind: fc.constantFrom(...kinds),
  owner: fc.nat({ max: 1 }),
  wallet: fc.nat({ max: 1 }),
  cents: amount,
  heldShare: fc.nat({ max: 100 }),
  isFinal: fc.boolean(),
});
const journalKinds = {
  fund: 'fund',
  refund: 'refund',
  authorization: 'authorization',
  clearing: 'clearing',
  release: 'reversal',
  transfer: 'internal_transfer',
} as const;
type OneJournal = typeof oneJournal extends fc.Arbitrary<infer J> ? J : never;
const oneCall = fc.record({
  journals: fc.array(oneJournal, { minLength: 1, maxLength: 5 }),
  lateByMs: fc.integer({ min: -5_000, max: 5_000 }),
});

type Party = { ownerId: `own_${string}`; wallets: readonly string[] };

function postingsOf({ kind, wallet: which, cents, heldShare, isFinal }: OneJournal, { ownerId, wallets }: Party) {
  const [from, other] = [wallet(wallets[which] ?? ''), wallets[1 - which] ?? ''];
  const facts = { ownerId, from, to: from, amountCents: cents };
  const patterns: Record<(typeof kinds)[number], () => Posting[]> = {
    fund: () => fund(facts),
    refund: () => refund(facts),
    authorization: () => authorization(facts),
    clearing: () => clearing({ ...facts, heldCents: Math.floor((cents * heldShare) / 50), isFinal }),
    release: () => release(facts),
    transfer: () => internalTransfer({ fromWalletId: from.id, toWalletId: other, amountCents: cents }),
  };
  return patterns[kind]();
}

type Model = { balances: Map<string, number>; times: Map<string, number> };
type Entry = { account: string; amountCents: number; atMs: number };

/** What the call writes, journal by journal, or undefined where an account would fall below zero. */
function modelled(model: Model, journals: readonly (readonly Posting[])[], givenMs: number) {
  const [balances, times] = [new Map(model.balances), new Map(model.times)];
  const written: Entry[][] = [];
  // The rule is applied to all journals of the call, in their order; refused is what ends below zero.
  for (const postings of journals) {
    const lines = settled(postings, balances);
    const atMs = Math.max(givenMs, ...lines.map(({ account }) => times.get(account) ?? 0));
    for (const { account, amountCents } of lines) {
      if (!hasRunningBalance(account)) continue;
      balances.set(account, (balances.get(account) ?? 0) + balanceChange(account, amountCents));
      if ((balances.get(account) ?? 0) < 0) return undefined;
      times.set(account, atMs);
    }
    written.push(lines.map((line) => ({ ...line, atMs })));
  }
  return { balances, times, written };
}

const entriesOf = async (journalId: string): Promise<Entry[]> =>
  rowsOf(
    book.database.read(),
    z.object({ account: z.string(), amountCents: z.int(), atMs: z.int() }),
    `select account, amount_cents as "amountCents", (extract(epoch from created_at) * 1000)::bigint as "atMs"
     from ledger_entries where journal_id = $1 order by line`,
    [journalId],
  );

async function twoParties(): Promise<Party[]> {
  return Promise.all(
    [0, 1].map(async () => {
      const { ownerId, walletId } = await book.owner();
      return { ownerId, wallets: [walletId, await book.wallet(ownerId)] };
    }),
  );
}

async function expectWhole(parties: readonly Party[]): Promise<void> {
  await book.database.write((tx) => sealJournals(tx));
  for (const { ownerId } of parties) {
    expect(await verifyOwner(book)(ownerId, { full: true })).toMatchObject({ differences: [], unsealed: 0 });
  }
}

let causes = 0;

test('calls of several journals and two owners write the calculated balances, or nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(oneCall, { minLength: 4, maxLength: 14 }), async (calls) => {
      const parties = await twoParties();
      const model: Model = { balances: new Map(), times: new Map() };
      for (const { journals, lateByMs } of calls) {
        const when = new Date(at.getTime() + 100_000 + lateByMs);
        const drafts: JournalDraft[] = journals.map((one) => {
          const party = parties[one.owner] as Party;
          return draft(party.ownerId, journalKinds[one.kind], postingsOf(one, party), `settling-${++causes}`);
        });
        const expected = modelled(
          model,
          drafts.map(({ postings }) => postings),
          when.getTime(),
        );
        const posted = await book.database
          .write((tx) => postJournals(tx, because('settling', when), drafts))
          .catch((error: Error & { code?: string }) => {
            if (error.code !== 'insufficient_funds' && error.code !== 'BL001') throw error;
            return undefined;
          });
        expect(posted === undefined).toBe(expected === undefined);
        if (posted === undefined || expected === undefined) continue;
        expect(await Promise.all(posted.map(({ journalId }) => entriesOf(journalId)))).toEqual(expected.written);
        Object.assign(model, { balances: expected.balances, times: expected.times });
      }
      const names = [...model.balances.keys()] as never[];
      expect(await balancesOf(book.database.read(), names)).toEqual(Object.fromEntries(model.balances));
      await expectWhole(parties);
    }),
    { numRuns: 40 },
  );
}, 120_000);

test('concurrent credits and debits: no account has available money while an amount is owed', async () => {
  for (let round = 0; round < 12; round++) {
    const [party] = (await twoParties()) as [Party];
    const { ownerId, wallets } = party;
    const from = wallet(wallets[0] ?? '');
    const post = (kind: 'clearing' | 'fund', postings: readonly Posting[]) =>
      book.post(ownerId, kind, postings, `racing-${++causes}`);
    const cents = (n: number) => 100 + ((n * 37 + round * 13) % 400);
    const debits = Array.from({ length: 12 }, (_, n) => ({
      ownerId,
      from,
      amountCents: cents(n),
      heldCents: 0,
      isFinal: true,
    }));
    const credits = Array.from({ length: 10 }, (_, n) => ({ ownerId, to: from, amountCents: cents(n + 5) }));
    const results = await Promise.all([
      ...debits.map((debit) => post('clearing', clearing(debit))),
      ...credits.map((credit) => post('fund', fund(credit))),
    ]);
    expect(results.every(({ outcome }) => outcome === 'posted')).toBe(true);
    const sum = (list: readonly { amountCents: number }[]) =>
      list.reduce((all, { amountCents }) => all + amountCents, 0);
    const names = [available(from), held(from), receivable(ownerId)];
    const now = await balancesOf(book.database.read(), names);
    expect((now[available(from)] ?? 0) - (now[receivable(ownerId)] ?? 0)).toBe(sum(credits) - sum(debits));
    // All money is in one wallet, so each credit settles first and each debit takes first.
    expect(Math.min(now[available(from)] ?? 0, now[receivable(ownerId)] ?? 0)).toBe(0);
    const both = await book.rows(
      `select e.journal_id from ledger_entries e join ledger_entries r on r.journal_id = e.journal_id
       where e.account = $1 and r.account = $2 and e.balance_after_cents > 0 and r.balance_after_cents > 0`,
      [available(from), receivable(ownerId)],
    );
    expect(both).toEqual([]);
    await expectWhole([party]);
  }
}, 120_000);

test('at the bounds of safe integers amounts are owed, settled and refused, never rounded', async () => {
  const largest = Number.MAX_SAFE_INTEGER;
  const { ownerId, walletId } = await book.owner();
  const from = wallet(walletId);
  const facts = { ownerId, from, to: from, heldCents: 0, isFinal: true };
  await book.fund(ownerId, walletId, 1);
  const owed = await book.post(ownerId, 'clearing', clearing({ ...facts, amountCents: largest }));
  expect(owed).toMatchObject({
    owedCents: largest - 1,
    balances: { [available(from)]: 0, [receivable(ownerId)]: largest - 1 },
  });
  // What is owed stays exact; one cent more than an account can hold is refused, and nothing of it is written.
  const tooMuch = book.post(ownerId, 'clearing', clearing({ ...facts, amountCents: 2 }));
  await expect(tooMuch).rejects.toMatchObject({ code: 'invalid_request' });
  const settling = await book.post(ownerId, 'fund', fund({ ...facts, amountCents: largest - 1 }));
  expect(settling).toMatchObject({
    owedCents: 1 - largest,
    balances: { [receivable(ownerId)]: 0 },
  });
  await book.database.write((tx) => sealJournals(tx));
  expect(await verifyOwner(book)(ownerId, { full: true })).toMatchObject({ differences: [], unsealed: 0 });
});
