/** The requirements for every payee check. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PayeeCheck } from '../../../src/domains/treasury/beneficiaries/payee-check.port.ts';

export type PayeeCheckHarness = {
  payeeCheck: PayeeCheck;
  /** The same adapter, at an address without a server. */
  away: PayeeCheck;
  /** Names of which the bank gives that answer. */
  names: {
    match: string;
    noMatch: string;
    close: { asked: string; known: string };
    notSupported: string;
    silent: string;
  };
  stop(): Promise<void>;
};

export function payeeCheckConformance(name: string, makeHarness: () => Promise<PayeeCheckHarness>): void {
  describe(`payee check: ${name}`, () => {
    let harness: PayeeCheckHarness;
    beforeAll(async () => {
      harness = await makeHarness();
    });
    afterAll(() => harness.stop());

    const ask = (asked: string, of = harness.payeeCheck) =>
      of.ask({ name: asked, iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' });

    test('a matching name, another one, and one that the bank cannot compare', async () => {
      expect(await ask(harness.names.match)).toEqual({ result: 'match' });
      expect(await ask(harness.names.noMatch)).toEqual({ result: 'no_match' });
      expect(await ask(harness.names.notSupported)).toEqual({ result: 'not_possible', reason: 'not_supported' });
    });

    test('a name that nearly matches comes with that of the account holder', async () => {
      const { asked, known } = harness.names.close;
      expect(await ask(asked)).toEqual({ result: 'close_match', suggestedName: known });
    });

    test('a question without a BIC is answered alike', async () => {
      const question = { name: harness.names.match, iban: 'DE89370400440532013000', bic: null };
      expect(await harness.payeeCheck.ask(question)).toEqual({ result: 'match' });
    });

    test('a bank that does not answer, and one that is not there, are not possible', async () => {
      const unanswered = { result: 'not_possible', reason: 'no_answer' };
      expect(await ask(harness.names.silent)).toEqual(unanswered);
      expect(await ask(harness.names.match, harness.away)).toEqual(unanswered);
    });
  });
}
