/** Where an incoming credit goes, and which top-up a payer names. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type CreditedWallet,
  creditTarget,
  isBookable,
  type NamedFunding,
  namedReference,
} from '../../../src/domains/treasury/bank-files/bank-entry.rules.ts';
import { creditorReference } from '../../../src/domains/treasury/funding/creditor-reference.rules.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { cents } from '../../../src/kernel/money.ts';

const wallet = fc.record<CreditedWallet>({
  id: fc.constantFrom('wal_00000001', 'wal_00000002'),
  ownerId: fc.constantFrom('own_00000001', 'own_00000002'),
  status: fc.constantFrom('active', 'frozen', 'closed'),
});
const amount = fc.constantFrom(cents(100), cents(200));
const funding = fc.record<NamedFunding>({
  id: fc.constant('fnd_00000001'),
  amountCents: amount,
  status: fc.constantFrom('pending', 'completed'),
  wallet,
});
const credit = fc.record({
  amountCents: amount,
  wallet: fc.option(wallet, { nil: undefined }),
  funding: fc.option(funding, { nil: undefined }),
});

test('money never leaves the owner of the account that was paid to, and never goes to a closed wallet', () => {
  fc.assert(
    fc.property(credit, (given) => {
      const target = creditTarget(given);
      if (target.to === 'suspense') return;
      expect(target.wallet.status).not.toBe('closed');
      expect([given.wallet?.id, given.funding?.wallet.id]).toContain(target.wallet.id);
      if (given.wallet !== undefined) expect(target.wallet.ownerId).toBe(given.wallet.ownerId);
    }),
  );
});

test('a top-up is completed by its own amount, and only while it is pending', () => {
  fc.assert(
    fc.property(credit, (given) => {
      const target = creditTarget(given);
      if (target.to === 'suspense' || target.fundingId === null) return;
      expect(given.funding).toMatchObject({ status: 'pending', amountCents: given.amountCents });
      expect(target.wallet).toEqual(given.funding?.wallet);
    }),
  );
});

test('suspense is only for what has no open wallet', () => {
  const open = (one: CreditedWallet | undefined): boolean => one !== undefined && one.status !== 'closed';
  fc.assert(
    fc.property(credit, (given) => {
      if (open(given.wallet)) expect(creditTarget(given).to).toBe('wallet');
      if (given.wallet === undefined && !open(given.funding?.wallet)) expect(creditTarget(given).to).toBe('suspense');
    }),
  );
});

test('a reference is found in its field and within a text, also in groups and lower case', () => {
  const reference = creditorReference(newId('funding'));
  const groups = reference.replace(/(.{4})(?=.)/g, '$1 ');
  const none = { text: null, creditorReference: null };
  expect(namedReference({ ...none, creditorReference: groups })).toBe(reference);
  for (const text of [reference, `top-up ${reference}, thanks`, `Ref: ${groups.toLowerCase()} of May`]) {
    expect(namedReference({ ...none, text })).toBe(reference);
  }
  const mistyped = `${reference.slice(0, -1)}${reference.endsWith('0') ? '1' : '0'}`;
  expect(namedReference({ text: mistyped, creditorReference: mistyped })).toBeUndefined();
  expect(namedReference(none)).toBeUndefined();
});

test('no text makes the search for a reference fail', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (text) => {
      namedReference({ text, creditorReference: text });
    }),
  );
});

test('an amount that no payment has is not booked', () => {
  expect([0, 1, 99_999_999_999, 100_000_000_000].map(isBookable)).toEqual([false, true, true, false]);
});
