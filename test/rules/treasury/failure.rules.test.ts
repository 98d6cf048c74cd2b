/** Why a transfer failed, in words: for every reason that Bursar gives itself. @module */
import { expect, test } from '@jest/globals';
import { payeeCheckResults } from '../../../src/domains/treasury/sepa/bank-transfer.rules.ts';
import { failureInWords } from '../../../src/domains/treasury/transfers/failure.rules.ts';

const own = ['payee_refused', 'not_received', 'expired', 'denied', 'cancelled'];
const checks = payeeCheckResults.filter((result) => result !== 'match').map((result) => `payee_check:${result}`);

test.each([...own, ...checks])('%s has words', (failureReason) => {
  expect(failureInWords({ failureReason, reasonCode: null })).toMatch(/^[a-z].{10,}[a-z]$/);
});

test('the code of a bank comes first, and a transfer that has not failed has no words', () => {
  expect(failureInWords({ failureReason: 'returned:MD07', reasonCode: 'MD07' })).toBe('MD07: the payee has died');
  expect(failureInWords({ failureReason: null, reasonCode: null })).toBeNull();
  expect(failureInWords({ failureReason: 'rejected', reasonCode: null })).toBeNull();
});
