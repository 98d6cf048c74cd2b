/**
 * The lines that a journal's postings become when balances are known: what `post_journals` does under lock, said once
 * more as plain arithmetic, so that patterns can be tested without a database and the database against it.
 * @module
 */
import type { Account } from '../../src/domains/treasury/ledger/account.rules.ts';
import type { Posting } from '../../src/domains/treasury/ledger/ledger.rules.ts';
import { cents } from '../../src/kernel/money.ts';

/** `balances`: of the accounts before, what is owed as a positive number; absent is 0. */
export function settled(postings: readonly Posting[], balances: ReadonlyMap<string, number>): Posting[] {
  const now = new Map(balances);
  const lines: Posting[] = [];
  const enter = (account: Account, amountCents: number): void => {
    if (amountCents === 0) return;
    const change = account.startsWith('owner:') ? -amountCents : amountCents;
    now.set(account, (now.get(account) ?? 0) + change);
    lines.push({ account, amountCents: cents(amountCents) });
  };
  for (const { account, amountCents, receivable } of postings) {
    if (receivable === undefined) {
      enter(account, amountCents);
      continue;
    }
    const rest =
      amountCents < 0
        ? -Math.min(-amountCents, now.get(account) ?? 0)
        : amountCents - Math.min(amountCents, now.get(receivable) ?? 0);
    enter(receivable, amountCents - rest);
    enter(account, rest);
  }
  return lines;
}
