/** Where an incoming credit goes, and which top-up a payer names. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  bankEntryStatuses,
  type CreditedWallet,
  creditTarget,
  givenId,
  isAssignable,
  isBookable,
  isSameMoney,
  type NamedFunding,
  namedReference,
  operatorOwnerId,
  type SaidOfLine,
} from '../../../src/domains/treasury/bank-files/bank-entry.rules.ts';
import {
  creditorReference,
  isCreditorReference,
} from '../../../src/domains/treasury/funding/creditor-reference.rules.ts';
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

const inMay: CreditedWallet = { id: 'wal_00000001', ownerId: 'own_00000001', status: 'active' };
const topUp: NamedFunding = { id: 'fnd_00000001', amountCents: cents(100), status: 'pending', wallet: inMay };

test('a top-up gets the money that names it, whichever wallet of its owner was paid to', () => {
  const savings: CreditedWallet = { ...inMay, id: 'wal_00000002' };
  const amountCents = cents(100);
  const target = { to: 'wallet', wallet: inMay, fundingId: 'fnd_00000001' };
  expect(creditTarget({ amountCents, wallet: undefined, funding: topUp })).toEqual(target);
  expect(creditTarget({ amountCents, wallet: savings, funding: topUp })).toEqual(target);
  const stranger: CreditedWallet = { ...savings, ownerId: 'own_00000002' };
  expect(creditTarget({ amountCents, wallet: stranger, funding: topUp })).toMatchObject({ wallet: stranger });
});

test('another amount, and a second credit for one top-up, go to its wallet and complete nothing', () => {
  const target = { to: 'wallet', wallet: inMay, fundingId: null };
  expect(creditTarget({ amountCents: cents(101), wallet: undefined, funding: topUp })).toEqual(target);
  const completed: NamedFunding = { ...topUp, status: 'completed' };
  expect(creditTarget({ amountCents: cents(100), wallet: undefined, funding: completed })).toEqual(target);
});

test('an operator reads why money is in suspense', () => {
  const amountCents = cents(100);
  const closed: CreditedWallet = { ...inMay, status: 'closed' };
  expect(creditTarget({ amountCents, wallet: undefined, funding: undefined })).toEqual({
    ...{ to: 'suspense', why: 'no wallet has this account, and no top-up this reference' },
  });
  expect(creditTarget({ amountCents, wallet: closed, funding: undefined })).toEqual({
    ...{ to: 'suspense', why: 'the wallet with this account is closed' },
  });
});

test('an operator assigns what is in suspense, and what is unbooked where nothing else has its money', () => {
  const assigned = (assignable: boolean) => bankEntryStatuses.filter((status) => isAssignable({ status, assignable }));
  expect(assigned(true)).toEqual(['suspense', 'unbooked']);
  expect(assigned(false)).toEqual(['suspense']);
});

test('the book of the operator has the owner whose name is in the journals of every installation', () => {
  expect(operatorOwnerId).toBe('own_operator');
});

test('an end-to-end id that says that the payer gave none is none', () => {
  expect(givenId('NOTPROVIDED')).toBeNull();
  expect(givenId('invoice 7')).toBe('invoice 7');
  expect(givenId(null)).toBeNull();
});

const line: SaidOfLine = {
  ...{ direction: 'credit', amountCents: cents(100), isReversal: false, bookedOn: '2026-11-20' },
  ...{ endToEndCheck: '01234567', payerCheck: '89abcdef' },
};
/** Each detail of which two lines of one payment cannot say different things. */
const details: readonly Partial<SaidOfLine>[] = [
  { bookedOn: '2026-11-21' },
  { endToEndCheck: '11111111' },
  { payerCheck: '22222222' },
];

test('two lines with one reference are one payment while they contradict each other in nothing', () => {
  expect(isSameMoney(line, line)).toBe(true);
  expect(isSameMoney(line, { ...line, amountCents: cents(101) })).toBe(false);
  expect(isSameMoney(line, { ...line, direction: 'debit' })).toBe(false);
  for (const other of details) expect([other, isSameMoney(line, { ...line, ...other })]).toEqual([other, false]);
});

test('a line that its bank told without its details first is the same payment, in either order', () => {
  for (const other of details) {
    const bare = { ...line, [String(Object.keys(other)[0])]: null };
    expect([isSameMoney(line, bare), isSameMoney(bare, line), isSameMoney(bare, bare)]).toEqual([true, true, true]);
  }
  const silent = { ...line, bookedOn: null, endToEndCheck: null, payerCheck: null };
  expect([isSameMoney(line, silent), isSameMoney(silent, line)]).toEqual([true, true]);
  expect(isSameMoney(line, { ...silent, amountCents: cents(101) })).toBe(false);
});

test('a reference is found in its field and within a text, also in groups and lower case', () => {
  const reference = creditorReference(newId('funding'));
  const groups = reference.replace(/(.{4})(?=.)/g, '$1 ');
  const none = { text: null, creditorReference: null };
  expect(namedReference({ ...none, creditorReference: groups })).toBe(reference);
  const parted = `RF ${reference.slice(2, 4)} ${reference.slice(4).replace(/(.{4})(?=.)/g, '$1 ')}`;
  for (const text of [
    ...[reference, `top-up ${reference}, thanks`, `Ref: ${groups.toLowerCase()} of May`],
    ...[groups.replaceAll(' ', '  '), groups.replaceAll(' ', ' / '), `Rechnung 12 ${parted}`],
    ...[`RF12 ${reference}`, `${reference} ${reference}`],
  ]) {
    expect([text, namedReference({ ...none, text })]).toEqual([text, reference]);
  }
  const mistyped = `${reference.slice(0, -1)}${reference.endsWith('0') ? '1' : '0'}`;
  expect(namedReference({ text: mistyped, creditorReference: mistyped })).toBeUndefined();
  expect(namedReference(none)).toBeUndefined();
});

test('a reference of another sender, which is shorter, is not found within a text', () => {
  const theirs = 'RF18539007547034';
  expect(isCreditorReference(theirs)).toBe(true);
  for (const text of [theirs, 'RF18 5390 0754 7034'])
    expect(namedReference({ text, creditorReference: null })).toBeUndefined();
  expect(namedReference({ text: null, creditorReference: theirs })).toBe(theirs);
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
