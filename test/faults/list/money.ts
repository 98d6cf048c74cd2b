/** Faults in amounts: rounding, holds, postings, what is owed. @module */
import { type Fault, faultsIn } from '../fault.ts';

const transactionRules = ['test/rules/payments/transaction.rules'];

export const moneyFaults: readonly Fault[] = [
  ...faultsIn(
    'money',
    'src/kernel/money.ts',
    ['test/rules/kernel', 'test/rules/spending'],
    [
      {
        from: 'Math.floor((amount * percent) / 100 + 1e-9)',
        to: 'Math.round((amount * percent) / 100)',
        harm: 'a tolerance grows by rounding',
      },
      {
        from: "fraction.padEnd(2, '0')",
        to: "fraction.padStart(2, '0')",
        harm: '12.5 EUR are read as 12.05 EUR',
      },
      {
        from: 'const wireForm = /^\\d{1,9}(\\.\\d{1,2})?$/;',
        to: 'const wireForm = /^\\d{1,9}(\\.\\d+)?$/;',
        harm: 'an amount with a third decimal is accepted and cut',
      },
      {
        from: 'cents(Math.floor(cents(amount * basisPoints) / 10_000));',
        to: 'cents(Math.ceil(cents(amount * basisPoints) / 10_000));',
        harm: 'the lines of a split sum to more than the split',
        tests: ['test/rules/kernel', 'test/rules/treasury'],
      },
    ],
  ),
  ...faultsIn('money', 'src/domains/payments/transactions/transaction.rules.ts', transactionRules, [
    {
      from: 'const fromHold = least(amountCents, state.heldCents);',
      to: 'const fromHold = least(amountCents, state.approvedCents);',
      harm: 'a second clearing is taken from a hold that is gone',
    },
    {
      from: 'releasedCents: isFinal ? left : subtract(left, left),',
      to: 'releasedCents: subtract(left, left),',
      harm: 'what a final clearing leaves of the hold is never given back',
    },
    {
      from: 'beyondCents: subtract(amountCents, fromHold),',
      to: 'beyondCents: subtract(amountCents, amountCents),',
      harm: 'no alert says that a merchant collected more than was held',
    },
    {
      from: 'const isPart = amountCents !== undefined && amountCents < state.approvedCents;',
      to: 'const isPart = amountCents !== undefined && amountCents <= state.approvedCents;',
      harm: 'a reversal of the whole amount of a charge that was declined leaves it open',
    },
    {
      from: 'clearedCents > 0 && refundedCents >= clearedCents',
      to: 'clearedCents > 0 && refundedCents > clearedCents',
      harm: 'a payment that was given back whole still says completed',
    },
    {
      from: 'if (!isOpen || missingCents <= 0 || approvedCents <= state.approvedCents) return state;',
      to: 'if (!isOpen || approvedCents <= state.approvedCents) return state;',
      harm: 'an advice after its clearings gives a hold of less than nothing',
    },
    {
      from: 'heldCents: add(state.heldCents, least(missingCents, availableCents)),',
      to: 'heldCents: add(state.heldCents, missingCents),',
      harm: 'an advice holds money that the wallet does not have',
    },
  ]),
  ...faultsIn(
    'money',
    'src/domains/payments/network/authorization.rules.ts',
    ['test/rules/payments'],
    [
      {
        from: "if (decision.outcome !== 'allow' || askedCents <= facts.availableCents) return decision;",
        to: "if (decision.outcome !== 'allow' || askedCents < facts.availableCents) return decision;",
        harm: 'the last cent of a wallet cannot be spent',
      },
      {
        from: 'if (room === undefined || room <= facts.before.collectedCents || room >= amountCents) return undefined;',
        to: 'if (room === undefined || room >= amountCents) return undefined;',
        harm: 'a partial approval of nothing, or of less than was collected',
      },
    ],
  ),
  ...faultsIn(
    'money',
    'src/db/functions/account-owners.sql',
    ['test/ledger/account-names'],
    [
      {
        from: 'not between 8 and 64 then null',
        to: 'not between 8 and 640 then null',
        harm: 'an account is named after an id that no record has',
      },
      {
        from: "'^(external:(cards|sepa|processor)|suspense|fees|interowner):own_[a-z0-9]+$'",
        to: "'^(external:(cards|sepa|processor)|suspense|fees|interowner):own_[a-z0-9]+'",
        harm: 'a contra account has a name that no list shows',
      },
    ],
  ),
  ...faultsIn(
    'money',
    'src/db/functions/post-journals.sql',
    ['test/ledger/posting', 'test/ledger/settling'],
    [
      {
        from: 'elsif v_known.lines < 2 or v_known.off <> 0 or not v_known.moves then',
        to: 'elsif v_known.lines < 2 or not v_known.moves then',
        harm: 'a journal that does not sum to zero is entered',
      },
      {
        from: 'v_rest := -least(-v_rest, greatest(a_balance[(v_index ->> l_account[v_i])::int], 0));',
        to: 'v_rest := v_rest;',
        harm: 'a clearing above the available money is refused instead of owed',
      },
      {
        from: 'v_rest := v_rest - least(v_rest, coalesce(a_balance[(v_index ->> l_receivable[v_i])::int], 0));',
        to: 'v_rest := v_rest;',
        harm: 'incoming money does not settle what is owed',
      },
    ],
  ),
  ...faultsIn(
    'money',
    'src/domains/treasury/ledger/ledger.rules.ts',
    ['test/rules/treasury/ledger.rules', 'test/ledger/settling'],
    [
      {
        from: '[available(restTo), left, receivable(ownerId)],',
        to: '[available(restTo), left],',
        harm: 'what a final clearing gives back of a hold does not settle what is owed',
      },
      {
        from: '[available(restTo), amountCents, receivable(ownerId)],',
        to: '[available(restTo), amountCents],',
        harm: 'what a reversal gives back does not settle what is owed',
      },
    ],
  ),
];
