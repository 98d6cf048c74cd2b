/** Changes of the rules that no test notices, each with the reason why nobody can notice it. @module */

/** One line of the code before and after the change, as `npm run mutation` prints them. */
export type Change = { readonly from: string; readonly to: string };

export type Accepted = { readonly file: string; readonly why: string; readonly changes: readonly Change[] };

const inFile =
  (file: string) =>
  (why: string, from: string, ...to: readonly string[]): Accepted => ({
    file: `src/${file}`,
    why,
    changes: to.map((changed) => ({ from, to: changed })),
  });

const money = inFile('kernel/money.ts');
const transaction = inFile('domains/payments/transactions/transaction.rules.ts');
const spendingChecks = inFile('domains/spending/policies/spending-checks.rules.ts');
const intentMatch = inFile('domains/spending/policies/intent-match.rules.ts');
const endpoint = inFile('domains/delivery/webhooks/endpoint.rules.ts');

const oneMisfit = 'Only intents with exactly one misfit are compared here.';
const wholeIsReversed = 'At or above what was approved nothing is left to hold, whichever way it is computed.';

export const accepted: readonly Accepted[] = [
  money(
    'The text of a number always has a part before the point, so the default is never taken.',
    "const [whole = '0', fraction = ''] = text.split('.');",
    `const [whole = "", fraction = ''] = text.split('.');`,
  ),
  transaction(
    'A comparison with undefined is false, so the first condition only narrows the type.',
    'const isPart = amountCents !== undefined && amountCents < state.approvedCents;',
    'const isPart = true && amountCents < state.approvedCents;',
  ),
  transaction(
    wholeIsReversed,
    'const isPart = amountCents !== undefined && amountCents < state.approvedCents;',
    'const isPart = amountCents !== undefined || amountCents < state.approvedCents;',
    'const isPart = amountCents !== undefined && true;',
    'const isPart = amountCents !== undefined && amountCents <= state.approvedCents;',
  ),
  transaction(
    'Only a payment of which something was collected ends as completed.',
    "clearedCents > 0 && refundedCents >= clearedCents ? 'reversed' : 'completed';",
    "true && refundedCents >= clearedCents ? 'reversed' : 'completed';",
    "clearedCents >= 0 && refundedCents >= clearedCents ? 'reversed' : 'completed';",
  ),
  transaction(
    'It is noticed by the test of the published document, whose descriptions name the seven days.',
    'export const linkWindowMs = 7 * day;',
    'export const linkWindowMs = 7 / day;',
  ),
  spendingChecks(
    'A drifted name is refused only where both categories are known, so the defaults are never taken.',
    "const categories = { firstMcc: first.mcc ?? '', mcc: mcc ?? '' };",
    `const categories = { firstMcc: first.mcc ?? "Stryker was here!", mcc: mcc ?? '' };`,
    `const categories = { firstMcc: first.mcc ?? '', mcc: mcc ?? "Stryker was here!" };`,
  ),
  spendingChecks(
    'Of equal hours one of the other two conditions is always true; the first one is for the reader.',
    'const isInside = start < end ? hour >= start && hour < end : start === end || hour >= start || hour < end;',
    'const isInside = start < end ? hour >= start && hour < end : false || hour >= start || hour < end;',
  ),
  intentMatch(
    oneMisfit,
    "const nearest = halfFits.find(({ misfits }) => misfits[0]?.field === 'amount') ?? halfFits[0];",
    "const nearest = halfFits.find(({ misfits }) => misfits[0].field === 'amount') ?? halfFits[0];",
  ),
  intentMatch(
    oneMisfit,
    "const reason = nearest.misfits.map((misfit) => misfit.reason).join('; ');",
    'const reason = nearest.misfits.map((misfit) => misfit.reason).join("");',
  ),
  endpoint(
    'The facts have a next attempt exactly where deliveries wait: both conditions are true together.',
    'if (waiting === 0 || nextAttemptAt === null) return longestWaitMs;',
    'if (waiting === 0 && nextAttemptAt === null) return longestWaitMs;',
    'if (waiting === 0 || false) return longestWaitMs;',
    'if (false || nextAttemptAt === null) return longestWaitMs;',
  ),
];
