/** Properties of the book's patterns: whatever happens in whatever order, no cent appears, vanishes or is borrowed. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type Account,
  agentBudget,
  available,
  balanceChange,
  external,
  fees,
  hasRunningBalance,
  held,
  interowner,
  receivable,
  suspense,
  wallet,
} from '../../../src/domains/treasury/ledger/account.rules.ts';
import {
  agentFund,
  agentReturn,
  authorization,
  bankCredit,
  bankPayment,
  cardSuspense,
  clearing,
  fund,
  internalTransfer,
  leaveCardSuspense,
  leaveSuspense,
  type Posting,
  refund,
  release,
  toSuspense,
  toWalletFromSuspense,
  walletTransfer,
  writeOffSuspense,
} from '../../../src/domains/treasury/ledger/ledger.rules.ts';
import { settled } from '../../support/settlement.ts';

const ownerId = 'own_tester0000';
const walletId = 'wal_tester0000';
const agentId = 'ag_tester00000';
const from = wallet(walletId);
const amount = fc.integer({ min: 1, max: 100_000 });
const some = fc.integer({ min: 0, max: 100_000 });

const sum = (postings: readonly Posting[]): number =>
  postings.reduce((total, { amountCents }) => total + amountCents, 0);
const of = (postings: readonly Posting[], account: Account): number =>
  postings.find((posting) => posting.account === account)?.amountCents ?? 0;

const standing = (availableCents: number, receivableCents: number, heldCents = 0): Map<string, number> =>
  new Map([
    [available(from), availableCents],
    [receivable(ownerId), receivableCents],
    [held(from), heldCents],
  ]);

const anyPattern = fc.oneof(
  amount.map((amountCents) => authorization({ ownerId, from, amountCents })),
  amount.map((amountCents) => release({ ownerId, from, amountCents })),
  fc
    .record({
      amountCents: amount,
      heldCents: some,
      isFinal: fc.boolean(),
    })
    .map((facts) => clearing({ ownerId, from, ...facts })),
  amount.map((amountCents) => fund({ ownerId, to: from, amountCents })),
  amount.map((amountCents) => refund({ ownerId, to: from, amountCents })),
  amount.map((amountCents) => internalTransfer({ fromWalletId: walletId, toWalletId: 'wal_other00000', amountCents })),
  amount.map((amountCents) => agentFund({ walletId, agentId, amountCents })),
  amount.map((amountCents) => agentReturn({ walletId, agentId, amountCents })),
);

test('every pattern is balanced, names each account once and has no line of zero', () => {
  fc.assert(
    fc.property(anyPattern, (postings) => {
      expect(sum(postings)).toBe(0);
      expect(postings.length).toBeGreaterThanOrEqual(2);
      expect(new Set(postings.map(({ account }) => account)).size).toBe(postings.length);
      expect(postings.every(({ amountCents }) => amountCents !== 0)).toBe(true);
    }),
  );
});

test('each pattern moves its amount from one account to another', () => {
  const amountCents = 500;
  const budget = agentBudget(agentId);
  const other = wallet('wal_other00000');
  const owed = receivable(ownerId);
  const credit = { ownerId, to: from, amountCents };
  const between = (debit: Account, to: Account, receivable?: Account) => [
    { account: debit, amountCents: -500 },
    { account: to, amountCents: 500, ...(receivable === undefined ? {} : { receivable }) },
  ];
  expect(authorization({ ownerId, from: budget, amountCents })).toStrictEqual(between(available(budget), held(budget)));
  expect(release({ ownerId, from, amountCents })).toStrictEqual(between(held(from), available(from), owed));
  expect(release({ ownerId, from: budget, restTo: from, amountCents })).toStrictEqual(
    between(held(budget), available(from), owed),
  );
  expect(fund(credit)).toStrictEqual(between(external('processor', ownerId), available(from), owed));
  expect(refund(credit)).toStrictEqual(between(external('cards', ownerId), available(from), owed));
  expect(bankCredit(credit)).toStrictEqual(between(external('sepa', ownerId), available(from), owed));
  expect(toWalletFromSuspense(credit)).toStrictEqual(between(interowner(ownerId), available(from), owed));
  expect(bankPayment({ ownerId, from, amountCents })).toStrictEqual(between(held(from), external('sepa', ownerId)));
  expect(toSuspense({ ownerId, amountCents })).toStrictEqual(between(external('sepa', ownerId), suspense(ownerId)));
  expect(leaveSuspense({ ownerId, amountCents })).toStrictEqual(between(suspense(ownerId), interowner(ownerId)));
  expect(cardSuspense({ ownerId, amountCents })).toStrictEqual(between(suspense(ownerId), external('cards', ownerId)));
  expect(leaveCardSuspense({ ownerId, amountCents })).toStrictEqual(
    between(external('cards', ownerId), suspense(ownerId)),
  );
  expect(writeOffSuspense({ ownerId, amountCents })).toStrictEqual(between(fees(ownerId), suspense(ownerId)));
  expect(internalTransfer({ fromWalletId: walletId, toWalletId: 'wal_other00000', amountCents })).toStrictEqual(
    between(available(from), available(other)),
  );
  expect(walletTransfer({ from: budget, toWalletId: 'wal_other00000', amountCents })).toStrictEqual(
    between(available(budget), available(other)),
  );
  expect(agentFund({ walletId, agentId, amountCents })).toStrictEqual(between(available(from), available(budget)));
  expect(agentReturn({ walletId, agentId, amountCents })).toStrictEqual(between(available(budget), available(from)));
});

test('a final clearing gives the rest of a budget’s hold back to where it is to go', () => {
  const budget = agentBudget(agentId);
  const facts = { ownerId, from: budget, restTo: from, amountCents: 300, heldCents: 500 };
  const owed = receivable(ownerId);
  expect(clearing({ ...facts, isFinal: true })).toEqual([
    { account: held(budget), amountCents: -500 },
    { account: available(from), amountCents: 200, receivable: owed },
    { account: external('cards', ownerId), amountCents: 300 },
  ]);
  expect(clearing({ ...facts, isFinal: false })).toEqual([
    { account: held(budget), amountCents: -300 },
    { account: external('cards', ownerId), amountCents: 300 },
  ]);
  expect(clearing({ ...facts, amountCents: 600, isFinal: true })).toEqual([
    { account: held(budget), amountCents: -500 },
    { account: available(budget), amountCents: -100, receivable: owed },
    { account: external('cards', ownerId), amountCents: 600 },
  ]);
});

test('a clearing pays the network in full for every hold, balance and debt, and takes no more than is available', () => {
  fc.assert(
    fc.property(
      amount,
      some,
      some,
      some,
      fc.boolean(),
      (amountCents, heldCents, availableCents, receivableCents, isFinal) => {
        const asked = clearing({ ownerId, from, amountCents, heldCents, isFinal });
        const postings = settled(asked, standing(availableCents, receivableCents, heldCents));
        expect(sum(postings)).toBe(0);
        expect(of(postings, external('cards', ownerId))).toBe(amountCents);
        expect(heldCents + of(postings, held(from))).toBe(isFinal ? 0 : Math.max(0, heldCents - amountCents));
        expect(availableCents + of(postings, available(from))).toBeGreaterThanOrEqual(0);
        expect(receivableCents - of(postings, receivable(ownerId))).toBeGreaterThanOrEqual(0);
      },
    ),
  );
});

test('an owner owes only what neither hold nor wallet could pay', () => {
  fc.assert(
    fc.property(amount, some, some, fc.boolean(), (amountCents, heldCents, availableCents, isFinal) => {
      const asked = clearing({ ownerId, from, amountCents, heldCents, isFinal });
      const postings = settled(asked, standing(availableCents, 0, heldCents));
      const owed = 0 - of(postings, receivable(ownerId));
      expect(owed).toBe(Math.max(0, amountCents - heldCents - availableCents));
      if (owed > 0) expect(availableCents + of(postings, available(from))).toBe(0);
    }),
  );
});

test('any credit settles the debt first', () => {
  fc.assert(
    fc.property(amount, some, (amountCents, receivableCents) => {
      for (const asked of [
        fund({ ownerId, to: from, amountCents }),
        refund({ ownerId, to: from, amountCents }),
        release({ ownerId, from, amountCents }),
        clearing({ ownerId, from, amountCents: 1, heldCents: 1 + amountCents, isFinal: true }),
      ]) {
        const postings = settled(asked, standing(0, receivableCents, 1 + amountCents));
        expect(of(postings, receivable(ownerId))).toBe(Math.min(amountCents, receivableCents));
        expect(of(postings, available(from))).toBe(Math.max(0, amountCents - receivableCents));
      }
    }),
  );
});

describe('a life of a wallet', () => {
  type Step = {
    kind: 'fund' | 'authorize' | 'clear' | 'reverse' | 'refund' | 'budget' | 'unbudget';
    cents: number;
    final: boolean;
  };
  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom('fund', 'authorize', 'clear', 'reverse', 'refund', 'budget', 'unbudget'),
    cents: fc.integer({ min: 1, max: 5_000 }),
    final: fc.boolean(),
  });

  test('conserves money through any sequence, and no account of the owner is ever below zero', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const balances = new Map<string, number>();
        const balance = (account: Account): number => balances.get(account) ?? 0;
        let holdCents = 0;
        let outside = 0;
        for (const { kind, cents, final } of steps) {
          const facts = { ownerId, from, to: from };
          const asked = (() => {
            if (kind === 'fund') return fund({ ...facts, amountCents: cents });
            if (kind === 'refund') return refund({ ...facts, amountCents: cents });
            if (kind === 'authorize')
              return cents <= balance(available(from)) ? authorization({ ...facts, amountCents: cents }) : [];
            if (kind === 'reverse')
              return holdCents > 0 ? release({ ...facts, amountCents: Math.min(cents, holdCents) }) : [];
            if (kind === 'budget')
              return cents <= balance(available(from)) ? agentFund({ walletId, agentId, amountCents: cents }) : [];
            if (kind === 'unbudget')
              return cents <= balance(available(agentBudget(agentId)))
                ? agentReturn({ walletId, agentId, amountCents: cents })
                : [];
            return clearing({
              ...facts,
              amountCents: cents,
              heldCents: holdCents,
              isFinal: final,
            });
          })();
          const postings = settled(asked, balances);
          for (const { account, amountCents } of postings) {
            balances.set(account, (balances.get(account) ?? 0) + balanceChange(account, amountCents));
            if (!hasRunningBalance(account)) outside -= amountCents;
          }
          holdCents = balance(held(from));
          for (const [account, cents] of balances)
            if (hasRunningBalance(account)) expect(cents).toBeGreaterThanOrEqual(0);
        }
        const inside = balance(available(from)) + balance(held(from)) + balance(available(agentBudget(agentId)));
        expect(inside - balance(receivable(ownerId))).toBe(outside);
      }),
    );
  });
});
