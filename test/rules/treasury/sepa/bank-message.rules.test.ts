/** What a status and an entry mean for a transfer, and that an end-to-end id alone is not believed. @module */
import { describe, expect, test } from '@jest/globals';
import type { EntryLine } from '../../../../src/domains/treasury/sepa/bank-files.port.ts';
import { entryMeaning, mismatchOf, statusMeaning } from '../../../../src/domains/treasury/sepa/bank-message.rules.ts';
import { endToEndIdOf, transferIdOf } from '../../../../src/domains/treasury/sepa/end-to-end-id.rules.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { cents } from '../../../../src/kernel/money.ts';

const ours = 'DE89370400440532013000';
const transferId = newId('transfer');
const line: EntryLine = {
  accountIban: ours,
  servicerReference: 'REF',
  entryReference: null,
  direction: 'debit',
  isReversal: false,
  isBooked: true,
  amountCents: cents(1_250),
  bookingDate: null,
  valueDate: null,
  endToEndId: endToEndIdOf(transferId),
  returnReasonCode: null,
  counterparty: { name: null, iban: null },
  remittance: { text: null, creditorReference: null },
};
const meaningOf = (change: Partial<EntryLine>) => entryMeaning({ ...line, ...change }, (iban) => iban === ours);

test.each([
  ['RCVD', 'submitted'],
  ['PDNG', 'submitted'],
  ['ACTC', 'submitted'],
  ['ACCP', 'accepted'],
  ['ACWC', 'accepted'],
  ['ACSP', 'accepted'],
  ['ACSC', 'settled'],
  ['ACCC', 'settled'],
  ['RJCT', 'rejected'],
  ['CANC', 'rejected'],
  ['PART', undefined],
  ['constructor', undefined],
])('the status %s means %s', (status, kind) => {
  expect(statusMeaning({ status })).toBe(kind);
});

describe('an entry', () => {
  test.each<[what: string, change: Partial<EntryLine>, meaning: object]>([
    ['a debit of a transfer', {}, { meaning: 'transfer', transferId, kind: 'settled' }],
    [
      'a return',
      { direction: 'credit', returnReasonCode: 'AC04' },
      { meaning: 'transfer', transferId, kind: 'returned' },
    ],
    [
      'money back after a recall',
      { direction: 'credit', returnReasonCode: 'FOCR' },
      { meaning: 'transfer', transferId, kind: 'recalled' },
    ],
    ['a payment of somebody else', { direction: 'credit', endToEndId: 'INVOICE-1' }, { meaning: 'incoming' }],
    ['a payment that names one of our transfers', { direction: 'credit' }, { meaning: 'incoming' }],
    ['a debit that is not ours', { endToEndId: 'NOTPROVIDED' }, { meaning: 'unexplained' }],
    [
      'a return of what we never sent',
      { direction: 'credit', returnReasonCode: 'AC04', endToEndId: null },
      { meaning: 'unexplained' },
    ],
    ['a reversal', { isReversal: true }, { meaning: 'unexplained' }],
    ['an announcement', { isBooked: false }, { meaning: 'none', why: 'it is announced, not booked' }],
    [
      'another account',
      { accountIban: 'FR1420041010050500013M02606' },
      { meaning: 'none', why: 'it is of an account that is not ours' },
    ],
  ])('%s', (_what, change, meaning) => {
    expect(meaningOf(change)).toEqual(meaning);
  });
});

test('a line is about a payment only with its amount and its account', () => {
  const sent = { amountCents: 1_250, payerIban: ours };
  expect(mismatchOf(sent, line)).toBeUndefined();
  expect(mismatchOf(sent, { amountCents: null })).toBeUndefined();
  expect(mismatchOf(sent, { ...line, amountCents: cents(1_251) })).toBe("its amount is 12.51, the payment's 12.50");
  expect(mismatchOf(sent, { ...line, accountIban: 'FR1' })).toBe('it is of another account than the payment');
});

test('an end-to-end id is the id of its transfer in capitals, and no other text is one', () => {
  expect(endToEndIdOf('tr_01kc1v9m3se7ttw5v1x0h2q8ab')).toBe('TR01KC1V9M3SE7TTW5V1X0H2Q8AB');
  expect(transferIdOf('TR01KC1V9M3SE7TTW5V1X0H2Q8AB')).toBe('tr_01kc1v9m3se7ttw5v1x0h2q8ab');
  for (const other of ['NOTPROVIDED', 'XX01KC1V9M3SE7TTW5V1X0H2Q8AB', 'TR', 'TR01KC1V9M3SE7TTW5V1X0H2Q8AB '])
    expect([other, transferIdOf(other)]).toEqual([other, undefined]);
  expect(() => endToEndIdOf(`tr_${'a'.repeat(34)}`)).toThrow(`an end-to-end id of tr_${'a'.repeat(34)}`);
  expect(() => endToEndIdOf('tr_ä')).toThrow();
});
