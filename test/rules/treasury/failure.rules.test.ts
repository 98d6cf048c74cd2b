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
  expect(failureInWords({ failureReason: null, reasonCode: 'MD07' })).toBeNull();
  expect(failureInWords({ failureReason: 'rejected', reasonCode: null })).toBeNull();
});

test.each([
  [
    'payee_refused',
    'the payee may not be paid: it is disabled, was changed, or resembles a name of the sanctions list',
  ],
  [
    'payee_check:close_match',
    'the payee’s bank has a similar name for the account, not the same, and the policy refuses that',
  ],
  ['payee_check:no_match', 'the payee’s bank has another name for the account, and the policy refuses that'],
  [
    'payee_check:not_possible',
    'no bank could say whether the account belongs to the payee, and the policy refuses that',
  ],
  ['not_received', 'the bank never received the payment, and it is not sent again'],
  ['expired', 'it was not approved in time'],
  ['denied', 'a person denied it'],
  ['cancelled', 'it was cancelled before the bank had it'],
])('%s reads: %s', (failureReason, words) => {
  expect(failureInWords({ failureReason, reasonCode: null })).toBe(words);
});
