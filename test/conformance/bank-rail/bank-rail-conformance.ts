/** The requirements for every rail of a bank. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BankPayment, BankRail } from '../../../src/domains/treasury/sepa/bank-rail.port.ts';
import { endToEndIdOf } from '../../../src/domains/treasury/sepa/end-to-end-id.rules.ts';
import { calendarDate } from '../../../src/kernel/calendar-date.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { cents } from '../../../src/kernel/money.ts';

export type BankRailHarness = {
  rail: BankRail;
  /** How many payments with this end-to-end id the bank has been given. */
  taken(endToEndId: string): Promise<number>;
  /** Absent: a rail that says everything later, by files. */
  answers?: {
    /** The bank rejects an instant payment with this text, by this code. */
    rejectedText: string;
    reasonCode: string;
    /** The bank takes a payment with this text and says nothing. */
    silentText: string;
  };
  /** The same bank, where the connection breaks before or after it has read the request. */
  cut?: { before: BankRail; after: BankRail };
  /** The same adapter, without a bank. */
  away: BankRail;
  stop(): Promise<void>;
};

export const aPayment = (changes: Partial<BankPayment> = {}): BankPayment => ({
  endToEndId: endToEndIdOf(newId('transfer')),
  scheme: 'instant',
  amountCents: cents(12_50),
  executionDate: calendarDate('2026-11-23'),
  payer: { name: 'Example GmbH', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
  payee: { name: 'Jane Doe', iban: 'FR1420041010050500013M02606' },
  remittance: 'Invoice 4711',
  ...changes,
});

export function bankRailConformance(name: string, makeHarness: () => Promise<BankRailHarness>): void {
  describe(`bank rail: ${name}`, () => {
    let harness: BankRailHarness;
    beforeAll(async () => {
      harness = await makeHarness();
    });
    afterAll(() => harness.stop());

    test.each(['instant', 'batch'] as const)('a payment (%s) is taken', async (scheme) => {
      const payment = aPayment({ scheme });
      expect(await harness.rail.send(payment)).toMatchObject({ outcome: 'taken' });
      expect(await harness.taken(payment.endToEndId)).toBe(1);
    });

    test('the second payment with an end-to-end id is the first, also with other content and at the same time', async () => {
      const payment = aPayment();
      const others = [payment, payment, { ...payment, amountCents: cents(99_00) }];
      const answers = await Promise.all(others.map((one) => harness.rail.send(one)));
      expect(answers.map(({ outcome }) => outcome)).toEqual(['taken', 'taken', 'taken']);
      expect(await harness.rail.send(payment)).toMatchObject({ outcome: 'taken' });
      expect(await harness.taken(payment.endToEndId)).toBe(1);
    });

    test('a payment without a BIC and without a text is taken', async () => {
      const { payer } = aPayment();
      const payment = aPayment({ payer: { ...payer, bic: null }, remittance: null });
      expect(await harness.rail.send(payment)).toMatchObject({ outcome: 'taken' });
    });

    test('what the bank says of a payment that it has', async () => {
      const payment = aPayment({ scheme: 'batch' });
      await harness.rail.send(payment);
      const expected = harness.answers === undefined ? { outcome: 'no_answer' } : { outcome: 'known' };
      expect(await harness.rail.ask(payment.endToEndId)).toMatchObject(expected);
    });

    test('of a payment that it was never given, the bank says that it has none', async () => {
      expect(await harness.rail.ask(aPayment().endToEndId)).toEqual({ outcome: 'not_known' });
    });

    test('a rejection comes with its reason, also when it is asked for', async () => {
      if (harness.answers === undefined) return;
      const { rejectedText, reasonCode } = harness.answers;
      const payment = aPayment({ remittance: rejectedText });
      const rejected = { outcome: 'rejected', reasonCode };
      expect(await harness.rail.send(payment)).toEqual(rejected);
      expect(await harness.rail.send(payment)).toEqual(rejected);
      expect(await harness.rail.ask(payment.endToEndId)).toEqual(rejected);
    });

    test('a bank that takes a payment and does not answer leaves the outcome unknown', async () => {
      if (harness.answers === undefined) return;
      const payment = aPayment({ remittance: harness.answers.silentText });
      expect(await harness.rail.send(payment)).toMatchObject({ outcome: 'unknown' });
      expect(await harness.rail.ask(payment.endToEndId)).toMatchObject({ outcome: 'no_answer' });
      expect(await harness.taken(payment.endToEndId)).toBe(1);
    });

    test('a connection that breaks before the bank has read leaves the outcome unknown, and the bank has nothing', async () => {
      if (harness.cut === undefined) return;
      const payment = aPayment();
      expect(await harness.cut.before.send(payment)).toMatchObject({ outcome: 'unknown' });
      expect(await harness.rail.ask(payment.endToEndId)).toEqual({ outcome: 'not_known' });
      expect(await harness.taken(payment.endToEndId)).toBe(0);
    });

    test('a connection that breaks after the bank has read leaves the outcome unknown, and one payment', async () => {
      if (harness.cut === undefined) return;
      const payment = aPayment();
      expect(await harness.cut.after.send(payment)).toMatchObject({ outcome: 'unknown' });
      expect(await harness.rail.ask(payment.endToEndId)).toMatchObject({ outcome: 'known' });
      expect(await harness.taken(payment.endToEndId)).toBe(1);
    });

    test('a recall of what the bank has is passed on, and a repeated one is the first', async () => {
      const payment = aPayment({ scheme: 'batch' });
      await harness.rail.send(payment);
      const first = await harness.rail.recall(payment.endToEndId, 'CUST');
      expect(await harness.rail.recall(payment.endToEndId, 'CUST')).toEqual(first);
      expect(first.outcome).toBe(harness.answers === undefined ? 'refused' : 'requested');
    });

    test('a recall of what the bank has not is refused', async () => {
      expect(await harness.rail.recall(aPayment().endToEndId, 'CUST')).toMatchObject({ outcome: 'refused' });
    });

    test('without a bank nothing is known', async () => {
      const payment = aPayment();
      expect(await harness.away.send(payment)).toMatchObject({ outcome: 'unknown' });
      expect(await harness.away.ask(payment.endToEndId)).toMatchObject({ outcome: 'no_answer' });
    });
  });
}
