/** Random lives of wallets against the real book: what the patterns promise is what the database then holds. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { rows } from '../../src/db/tx.ts';
import {
  type Account,
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
import { type JournalKind, lockAccounts, postJournals } from '../../src/domains/treasury/ledger/ledger.service.ts';
import { sealJournals } from '../../src/domains/treasury/ledger/seal.service.ts';
import { verifyOwner } from '../../src/domains/treasury/ledger/verify.service.ts';
import { type Book, because, draft, openBook } from './book.ts';

let book: Book;
beforeAll(async () => {
  book = await openBook();
  // The holds of these lives are nobody's transactions: what is held stands for itself.
  await rows(
    book.database.read(),
    `create or replace function open_holds(p_owner text) returns table (account text, held_cents bigint)
     language sql stable as $$ select name, balance_cents from ledger_accounts where owner_id = p_owner and name like '%:held' $$`,
  );
});
afterAll(() => book.close());

const kinds = ['fund', 'authorization', 'clearing', 'reversal', 'refund', 'internal_transfer'] as const;
const step = fc.record({
  kind: fc.constantFrom<JournalKind>(...kinds),
  cents: fc.integer({ min: 1, max: 3_000 }),
  isFinal: fc.boolean(),
  repeated: fc.boolean(),
});

test('any sequence ends with the balances of the model, whole, and each refused step has changed nothing', async () => {
  let causes = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const { ownerId, walletId } = await book.owner();
      const second = await book.wallet(ownerId);
      const from = wallet(walletId);
      const owed = receivable(ownerId);
      const model = new Map<string, number>();
      for (const { kind, cents, isFinal, repeated } of steps) {
        const cause = `life-${++causes}`;
        const act = () =>
          book.database.write(async (tx) => {
            const names = [available(from), held(from), owed, available(wallet(second))];
            const locked: Record<string, number> = await lockAccounts(tx, because(cause), ownerId, names);
            const heldCents = locked[held(from)] ?? 0;
            const facts = { ownerId, from, to: from, amountCents: cents, receivableCents: locked[owed] ?? 0 };
            const patterns: Partial<Record<JournalKind, () => Posting[]>> = {
              fund: () => fund(facts),
              refund: () => refund(facts),
              authorization: () => authorization(facts),
              reversal: () => (heldCents > 0 ? release({ ...facts, amountCents: Math.min(cents, heldCents) }) : []),
              internal_transfer: () =>
                internalTransfer({ fromWalletId: walletId, toWalletId: second, amountCents: cents }),
              clearing: () => clearing({ ...facts, heldCents, availableCents: locked[available(from)] ?? 0, isFinal }),
            };
            const postings = patterns[kind]?.() ?? [];
            if (postings.length === 0) return [];
            const [posted] = await postJournals(tx, because(cause), [draft(ownerId, kind, postings, cause)]);
            return posted?.outcome === 'posted' ? postings : [];
          });
        const took = await act().catch((error: { code?: string }) => {
          expect(error.code).toBe('insufficient_funds');
          expect(cents).toBeGreaterThan(model.get(available(from)) ?? 0);
          return [];
        });
        for (const { account, amountCents } of took) {
          if (hasRunningBalance(account))
            model.set(account, (model.get(account) ?? 0) + balanceChange(account, amountCents));
        }
        if (repeated && took.length > 0) expect(await act()).toEqual([]);
      }
      const names = [...model.keys()] as Account[];
      expect(await balancesOf(book.database.read(), names)).toEqual(Object.fromEntries(model));
      await sealJournals(book.database);
      expect(await verifyOwner(book.database, ownerId, { full: true })).toMatchObject({ differences: [], unsealed: 0 });
    }),
    { numRuns: 25 },
  );
});
