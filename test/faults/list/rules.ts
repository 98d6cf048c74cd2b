/** Faults in pure rules: limits, transitions, matching, deadlines. @module */
import { type Fault, faultsIn } from '../fault.ts';

const spending = ['test/rules/spending', 'test/rules/payments/authorization'];

export const rulesFaults: readonly Fault[] = [
  ...faultsIn('rules', 'src/domains/spending/policies/spending-checks.rules.ts', spending, [
    {
      from: 'if (request.amountCents <= limitCents) return pass(rule, figures);',
      to: 'if (request.amountCents < limitCents) return pass(rule, figures);',
      harm: 'a payment of exactly the transaction limit is declined',
    },
    {
      from: 'if (spentCents + request.amountCents <= limitCents) return pass(rule, figures);',
      to: 'if (spentCents < limitCents) return pass(rule, figures);',
      harm: 'the last payment of a day may pass the daily limit by any amount',
    },
    {
      from: 'if (counters.usageCount < maxUsageCount) return pass',
      to: 'if (counters.usageCount <= maxUsageCount) return pass',
      harm: 'an agent pays once more often than the policy allows',
    },
    {
      from: 'const isInside = start < end ? hour >= start && hour < end :',
      to: 'const isInside = start < end ? hour >= start && hour <= end :',
      harm: 'active hours last an hour longer',
    },
    {
      from: 'if (leftMs <= 0) return pass',
      to: 'if (leftMs < 0) return pass',
      harm: 'a payment at the very end of the cooldown is declined',
    },
    {
      from: "if (outcome === 'deny') return deny('risk'",
      to: "if (outcome === 'deny' && phase === 'declare') return deny('risk'",
      harm: 'a charge that risk refuses passes where a person approved its intent',
    },
    {
      from: "if (card?.usage !== 'single' || isNoPayment(request)) return undefined;",
      to: "if (card?.usage !== 'single' || isNoPayment(request) || usageCount === 1) return undefined;",
      harm: 'a card for one payment pays twice',
    },
    {
      from: "if (!policy.requireAttestation || phase === 'declare' || isVerification(request)) return undefined;",
      to: "if (!policy.requireAttestation || phase !== 'charge' || isVerification(request)) return undefined;",
      harm: 'a transfer needs no passkey although the policy requires one',
    },
  ]),
  ...faultsIn('rules', 'src/domains/spending/policies/intent-match.rules.ts', spending, [
    {
      from: 'if (amountCents > maxChargeCents) {',
      to: 'if (amountCents > maxChargeCents + 1) {',
      harm: 'an intent pays one cent more than its tolerance',
    },
    {
      from: 'return Math.min(own, policys ?? own);',
      to: 'return Math.max(own, policys ?? own);',
      harm: 'an agent declares a tolerance above its owner’s',
    },
  ]),
  ...faultsIn('rules', 'src/domains/spending/policies/attestation.rules.ts', spending, [
    {
      from: 'if (attestedAt !== null && at <= attestedUntil(terms, attestedAt)) return undefined;',
      to: 'if (attestedAt !== null) return undefined;',
      harm: 'an attestation of last week still counts',
    },
  ]),
  ...faultsIn(
    'rules',
    'src/domains/spending/intents/intent.rules.ts',
    ['test/rules/spending/intent.rules'],
    [
      {
        from: "pending_approval: ['approve', 'deny', 'cancel', 'expire'],",
        to: "pending_approval: ['approve', 'deny', 'cancel', 'expire', 'match'],",
        harm: 'a charge matches an intent that no person has approved',
      },
      {
        from: "if (isMatched && (kind === 'expire' || kind === 'cancel')) {",
        to: "if (isMatched && kind === 'cancel') {",
        harm: 'an intent expires while a payment for it is authorized',
      },
      {
        from: '!isBeingPaid(state) && state.expiresAt.getTime() <= now.getTime();',
        to: '!isBeingPaid(state) && state.expiresAt.getTime() < now.getTime();',
        harm: 'an intent can be paid for at its deadline',
      },
    ],
  ),
  ...faultsIn(
    'rules',
    'src/domains/payments/network/authorization.rules.ts',
    ['test/rules/payments'],
    [
      {
        from: "if (token.isUsed) return { rule: 'token_used'",
        to: "if (token.isUsed && token.isExpired === true) return { rule: 'token_used'",
        harm: 'a payment token pays twice',
      },
      {
        from: 'if (amountCents > ceilingCents) {',
        to: 'if (amountCents >= ceilingCents * 2) {',
        harm: 'a payment token pays more than its ceiling',
      },
      {
        from: 'if (token.merchantId != null && merchant?.id !== token.merchantId) {',
        to: 'if (token.merchantId != null && merchant?.id != null && merchant.id !== token.merchantId) {',
        harm: 'a merchant without an id charges another merchant’s token',
      },
      {
        from: "const needsPerson = whole.outcome === 'needs_approval' && !before.isFinal;",
        to: "const needsPerson = whole.outcome !== 'allow' && !before.isFinal;",
        harm: 'a person is asked about charges that no person may approve',
      },
      {
        from: 'if (isFinal || isReversedWhole(reversals, approvedCents)) return zero;',
        to: 'if (isReversedWhole(reversals, approvedCents)) return zero;',
        harm: 'money stays held after the final clearing',
      },
    ],
  ),
  ...faultsIn(
    'rules',
    'src/domains/treasury/sepa/bank-transfer.rules.ts',
    ['test/rules/treasury/sepa'],
    [
      {
        from: "approved: ['beginSending', 'refusePayee', 'cancel'],",
        to: "approved: ['beginSending', 'refusePayee', 'cancel', 'acceptPayee'],",
        harm: 'a payee is accepted twice, and the second one begins a second sending',
      },
      {
        from: "sending: ['noteNotReceived'],",
        to: "sending: ['noteNotReceived', 'beginSending'],",
        harm: 'a transfer that the bank may have is sent again',
      },
      {
        from: "if (place[from] === 'back' && (message === 'returned' || message === 'recalled')) return contradiction(from, message);",
        to: '',
        harm: 'a second return of one transfer is taken silently',
      },
      {
        from: "'held-back': ['pay', 'takeBack'],",
        to: "'held-back': ['takeBack'],",
        harm: 'a return that overtakes its debit leaves money held for ever',
      },
    ],
  ),
  ...faultsIn(
    'rules',
    'src/domains/delivery/webhooks/delivery.rules.ts',
    ['test/rules/delivery'],
    [
      {
        from: 'if (status !== null && status >= 200 && status < 300)',
        to: 'if (status !== null && status >= 200 && status < 400)',
        harm: 'a redirect counts as delivered',
      },
      {
        from: "const mayRetry = isOpen && outcome !== 'gone' && attempt < tierOf(plan).maxAttempts;",
        to: "const mayRetry = isOpen && outcome !== 'gone' && attempt <= tierOf(plan).maxAttempts;",
        harm: 'a receiver gets an attempt more than its plan has',
      },
      {
        from: 'return Math.max(gapMs, Math.min(retryAfterMs, longestRetryAfterMs));',
        to: 'return Math.max(gapMs, retryAfterMs);',
        harm: 'a receiver postpones its deliveries for years',
      },
    ],
  ),
  ...faultsIn(
    'rules',
    'src/domains/identity/passkeys/passkey.rules.ts',
    ['test/rules/identity/passkey.rules'],
    [
      {
        from: "(enrolled >= 2 ? 'assertion' : 'none');",
        to: "(enrolled > 2 ? 'assertion' : 'none');",
        harm: 'a stolen API key removes one of two passkeys without an assertion',
      },
      {
        from: 'return end > at ? end : at;',
        to: 'return at;',
        harm: 'a passkey that a thief enrolls after removing the owner’s approves at once',
      },
    ],
  ),
  ...faultsIn(
    'rules',
    'src/domains/delivery/webhooks/webhook.rules.ts',
    ['test/rules/delivery/webhook.rules'],
    [
      {
        from: 'if (failingMs < failingUntilDisabledMs) return undefined;',
        to: '',
        harm: 'a webhook is disabled after twenty failures of one hour',
      },
      {
        from: 'failingSince: health.failingSince ?? now,',
        to: 'failingSince: now,',
        harm: 'a webhook whose receiver is gone is never disabled',
      },
    ],
  ),
  ...faultsIn(
    'rules',
    'src/domains/delivery/webhooks/endpoint.rules.ts',
    ['test/rules/delivery/endpoint.rules'],
    [
      {
        from: 'const probed = isProbed(facts.unansweredInRow);',
        to: 'const probed = false;',
        harm: 'a receiver that only times out gets as many requests as one that answers',
      },
    ],
  ),
];
