/** Random lives of wallets against the real book: what the patterns promise is what the database then holds. @module */

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod';
import { rowsOf } from '../../src/db/statement.ts';
import { trialBalance } from '../../src/domains/treasury/ledger/account.queries.ts';
import {
  type Account,
  available,
  balanceChange,
  hasRunningBalance,
  held,
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
import { type JournalKind, postJournals } from '../../src/domains/treasury/ledger/ledger.service.ts';
import { sealJournals } from '../../src/domains/treasury/ledger/seal.service.ts';
import { verifyOwner } from '../../src/usecases/treasury/verify-owner.ts';
import { settled } from '../support/settlement.ts';
import { acceptHoldsWithoutTransactions, type Book, because, draft, openBook } from './book.ts';

let book: Book;
beforeAll(async () => {
  book = await openBook();
  await acceptHoldsWithoutTransactions(book);
});
afterAll(() => book.close());

const kinds = ['fund', 'authorization', 'clearing', 'reversal', 'refund', 'internal_transfer'] as const;
type Step = { kind: JournalKind; cents: number; isFinal: boolean; repeated: boolean };
const anyStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom<JournalKind>(...kinds),
  cents: fc.integer({ min: 1, max: 3_000 }),
  isFinal: fc.boolean(),
  repeated: fc.boolean(),
});

const entriesOf = (journalId: string) =>
  rowsOf(
    book.database.read(),
    z.object({ account: z.string(), amountCents: z.int() }),
    'select account, amount_cents as "amountCents" from ledger_entries where journal_id = $1 order by line',
    [journalId],
  );

test('any sequence ends with the balances of the model and an intact ledger, and a refused step changes nothing', async () => {
  let causes = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 25 }), async (steps) => {
      const { ownerId, walletId } = await book.owner();
      const second = await book.wallet(ownerId);
      const from = wallet(walletId);
      const model = new Map<string, number>();
      const journalOf = ({ kind, cents, isFinal }: Step): Posting[] => {
        const heldCents = model.get(held(from)) ?? 0;
        const facts = { ownerId, from, to: from, amountCents: cents };
        const patterns: Partial<Record<JournalKind, () => Posting[]>> = {
          fund: () => fund(facts),
          refund: () => refund(facts),
          authorization: () => authorization(facts),
          reversal: () => (heldCents > 0 ? release({ ...facts, amountCents: Math.min(cents, heldCents) }) : []),
          internal_transfer: () => internalTransfer({ fromWalletId: walletId, toWalletId: second, amountCents: cents }),
          clearing: () => clearing({ ...facts, heldCents, isFinal }),
        };
        return patterns[kind]?.() ?? [];
      };
      for (const step of steps) {
        const { kind, repeated } = step;
        const cause = `life-${++causes}`;
        const post = (postings: readonly Posting[]) =>
          book.database.write((tx) => postJournals(tx, because(cause), [draft(ownerId, kind, postings, cause)]));
        const asked = await journalOf(step);
        if (asked.length === 0) continue;
        const [posted] = await post(asked).catch((error: { code?: string }) => {
          expect(error.code).toBe('insufficient_funds');
          expect(step.cents).toBeGreaterThan(model.get(available(from)) ?? 0);
          return [];
        });
        if (posted === undefined) continue;
        const lines = settled(asked, model);
        expect(await entriesOf(posted.journalId)).toEqual(lines);
        for (const { account, amountCents } of lines) {
          if (hasRunningBalance(account))
            model.set(account, (model.get(account) ?? 0) + balanceChange(account, amountCents));
        }
        if (repeated) expect(await post(asked)).toEqual([{ ...posted, outcome: 'already' }]);
      }
      const names = [...model.keys()] as Account[];
      expect(await balancesOf(book.database.read(), names)).toEqual(Object.fromEntries(model));
      await book.database.write((tx) => sealJournals(tx));
      expect(await verifyOwner(book)(ownerId, { full: true })).toMatchObject({ differences: [], unsealed: 0 });
    }),
    { numRuns: 25 },
  );
});

const wallets = 3;
const commuting = ['fund', 'refund', 'authorization', 'internal_transfer'] as const;
const anyMove = fc.record({
  kind: fc.constantFrom(...commuting),
  from: fc.nat({ max: wallets - 1 }),
  to: fc.nat({ max: wallets - 1 }),
  cents: fc.integer({ min: 1, max: 500 }),
});
type Move = typeof anyMove extends fc.Arbitrary<infer M> ? M : never;

test('postings that are covered in any order give the same trial balance in any order, also at once', async () => {
  let causes = 0;
  /** Each wallet begins with enough for all that may leave it. */
  const anOwner = async () => {
    const { ownerId, walletId } = await book.owner();
    const ids = [walletId, await book.wallet(ownerId), await book.wallet(ownerId)];
    for (const id of ids) await book.fund(ownerId, id, 20 * 500);
    const post = ({ kind, from, to, cents }: Move) => {
      const [source, target] = [wallet(ids[from] ?? ''), wallet(ids[to] ?? '')];
      const facts = { ownerId, from: source, to: target, amountCents: cents };
      const patterns: Record<Move['kind'], () => Posting[]> = {
        fund: () => fund(facts),
        refund: () => refund(facts),
        authorization: () => authorization(facts),
        internal_transfer: () =>
          internalTransfer({ fromWalletId: source.id, toWalletId: target.id, amountCents: cents }),
      };
      return book.post(ownerId, kind, patterns[kind](), `commuting-${++causes}`);
    };
    const standing = async () => {
      const totals = await trialBalance(book.database.read(), ownerId, undefined);
      const nameOf = (account: string) =>
        ids.reduce((name, id, n) => name.replace(id, `${n}`), account.replace(ownerId, 'own'));
      return totals.accounts.map(({ account, ...sums }) => ({ account: nameOf(account), ...sums }));
    };
    return { ownerId, post, standing };
  };
  const sorted = <Row extends { readonly account: string }>(rows: readonly Row[]) =>
    [...rows].sort((a, b) => (a.account < b.account ? -1 : 1));

  await fc.assert(
    fc.asyncProperty(
      fc.array(anyMove, { minLength: 3, maxLength: 20 }).chain((moves) =>
        fc.record({
          moves: fc.constant(moves.filter(({ kind, from, to }) => kind !== 'internal_transfer' || from !== to)),
          order: fc.shuffledSubarray([...moves.keys()], { minLength: moves.length }),
        }),
      ),
      async ({ moves, order }) => {
        const [first, second, third] = [await anOwner(), await anOwner(), await anOwner()];
        for (const move of moves) await first.post(move);
        for (const move of order.flatMap((at) => moves[at] ?? [])) await second.post(move);
        await Promise.all(moves.map(third.post));
        const due = sorted(await first.standing());
        expect(sorted(await second.standing())).toEqual(due);
        expect(sorted(await third.standing())).toEqual(due);
        // Conserved: what the owner has came from outside, and nothing stands below zero.
        expect(due.reduce((sum, { creditedCents, debitedCents }) => sum + creditedCents - debitedCents, 0)).toBe(0);
        for (const { account, balanceCents } of due)
          if (hasRunningBalance(account)) expect(balanceCents).toBeGreaterThanOrEqual(0);
      },
    ),
    { numRuns: 10 },
  );
});
