/** Which files of pure rules are changed, and the tests that have to notice it. @module */

export type MutatedFile = {
  /** From the root of the project. */
  readonly file: string;
  /** Below `test/rules`, without `.test.ts`. Few, because each change loads all of them. */
  readonly tests: readonly string[];
};

export const testFileOf = (test: string): string => `test/rules/${test}.test.ts`;

const domain =
  (path: string) =>
  (file: string, ...tests: readonly string[]): MutatedFile => ({ file: `src/domains/${path}/${file}.ts`, tests });

const policies = domain('spending/policies');
const intents = domain('spending/intents');
const network = domain('payments/network');
const sepa = domain('treasury/sepa');
const webhooks = domain('delivery/webhooks');
const mpp = domain('payments/mpp');
const mppPayments = domain('payments/mpp-payments');
const credentials = domain('payments/mpp-credentials');
const transfers = domain('treasury/transfers');
const ledger = domain('treasury/ledger');
const chains = (file: string, ...tests: readonly string[]): MutatedFile => ({
  ...{ file: `src/platform/record-chains/${file}.ts`, tests },
});
const wellKnown = domain('identity/well-known');
const beneficiaries = domain('treasury/beneficiaries');

export const mutatedFiles: readonly MutatedFile[] = [
  { file: 'src/kernel/money.ts', tests: ['kernel/kernel.rules', 'kernel/money.rules'] },
  domain('payments/transactions')('transaction.rules', 'payments/transaction.rules'),
  policies('spending-checks.rules', 'spending/policy.rules', 'spending/findings.rules'),
  policies('intent-match.rules', 'spending/intent-match.rules', 'spending/recurring-match.rules'),
  policies('attestation.rules', 'spending/attestation.rules', 'spending/findings.rules'),
  policies('policy-expiry.rules', 'spending/policy-expiry.rules'),
  policies('merchant-checks.rules', 'spending/merchant-checks.rules'),
  policies('merchant-match.rules', 'spending/merchant-match.rules'),
  network('authorization.rules', 'payments/authorization.rules'),
  network('increment.rules', 'payments/increment.rules'),
  intents('intent.rules', 'spending/intent.rules'),
  intents('windows/window.rules', 'spending/intent-window.rules'),
  intents('windows/recurrence.rules', 'spending/recurrence.rules', 'spending/recurring-match.rules'),
  sepa('bank-transfer.rules', 'treasury/sepa/bank-transfer.rules'),
  sepa('target-calendar.rules', 'treasury/sepa/target-calendar.rules'),
  sepa('banking-day.rules', 'treasury/sepa/banking-day.rules'),
  sepa('scheme.rules', 'treasury/sepa/bank-transfer.rules'),
  webhooks('delivery.rules', 'delivery/delivery.rules'),
  webhooks('endpoint.rules', 'delivery/endpoint.rules'),
  webhooks('webhook.rules', 'delivery/webhook.rules'),
  mpp('authenticate-header.rules', 'payments/mpp/challenge.wire'),
  mpp('challenge-id.rules', 'payments/mpp/challenge-id.rules'),
  domain('cards/cards')('card.rules', 'cards/card.rules'),
  domain('cards/card-requests')('card-request.rules', 'cards/card-request.rules'),
  domain('identity/passkeys')('passkey.rules', 'identity/passkey.rules'),
  domain('identity/passkey-invitations')('invitation.rules', 'identity/invitation.rules'),
  ledger('ledger.rules', 'treasury/ledger.rules', 'payments/transaction.rules'),
  mppPayments('mpp-payment.rules', 'payments/mpp-payments/mpp-payment.rules'),
  mppPayments('mpp-payment.outcome.rules', 'payments/mpp-payments/mpp-payment.rules'),
  credentials('mpp-credential.rules', 'payments/mpp-credentials/mpp-credential.rules'),
  credentials('challenge-evaluation.rules', 'payments/mpp-credentials/challenge-evaluation.rules'),
  credentials('credential-expectation.rules', 'payments/mpp-credentials/credential-expectation.rules'),
  domain('payments/checkout')('checkout.rules', 'payments/checkout.rules'),
  network('remedy.rules', 'payments/remedy.rules'),
  transfers('transfer-split.rules', 'treasury/transfer-split.rules'),
  transfers('transfer.rules', 'treasury/transfer.rules'),
  transfers('failure.rules', 'treasury/failure.rules'),
  sepa('bank-message.rules', 'treasury/sepa/bank-message.rules'),
  sepa('end-to-end-id.rules', 'treasury/sepa/bank-message.rules'),
  domain('treasury/bank-files')('bank-entry.rules', 'treasury/bank-entry.rules'),
  domain('treasury/wallets')('wallet.rules', 'treasury/wallet.rules'),
  domain('treasury/wallets')('iban.rules', 'treasury/wallet.rules'),
  beneficiaries('beneficiary.rules', 'treasury/name-match.rules'),
  beneficiaries('name-match.rules', 'treasury/name-match.rules'),
  domain('delivery/push-subscriptions')('push.rules', 'delivery/push.rules'),
  domain('identity/keys')('key.rules', 'identity/key.rules'),
  domain('identity/agent-tokens')('agent-token.rules', 'identity/agent-token.rules'),
  domain('parties/agents')('agent.rules', 'parties/agent.rules'),
  domain('parties/customers')('plan.rules', 'parties/plan.rules'),
  domain('parties/customers')('customer.rules', 'parties/plan.rules'),
  domain('merchants/merchants')('merchant.rules', 'merchants/merchant.rules'),
  domain('cards/card-controls')('card-control.rules', 'cards/card-control.rules'),
  policies('policy-version.rules', 'spending/policy-version.rules'),
  domain('spending/protect-rules')('protect-rule.rules', 'spending/protect-rule.rules'),
  network('network.signature', 'payments/network.signature'),
  webhooks('webhook.signature', 'delivery/webhook.signature'),
  network('advice.rules', 'payments/advice.rules'),
  transfers('bank-transfer.run.rules', 'treasury/bank-transfer-run.rules'),
  ledger('verify.rules', 'treasury/verify.rules'),
  ledger('proof.rules', 'treasury/proof.rules'),
  ledger('seal.rules', 'treasury/seal.rules', 'treasury/verify.rules'),
  ledger('checkpoint.rules', 'treasury/checkpoint.rules', 'treasury/seal.rules'),
  chains('merkle.rules', 'platform/merkle.rules'),
  chains('record-chain.rules', 'platform/record-chain.rules'),
  ledger('account.rules', 'treasury/account.rules'),
  ledger('entry.rules', 'treasury/entry.rules'),
  domain('treasury/funding')('creditor-reference.rules', 'treasury/creditor-reference.rules'),
  policies('policy.rules', 'spending/policy.rules', 'spending/findings.rules'),
  policies('preset.rules', 'spending/preset.rules'),
  policies('lifting.rules', 'spending/lifting.rules'),
  policies('merchant-spelling.rules', 'spending/merchant-spelling.rules'),
  policies('merchant-descriptor.rules', 'spending/merchant-descriptors.rules'),
  intents('allow-once.rules', 'spending/allow-once.rules'),
  network('allow-once.rules', 'payments/allow-once.words.rules'),
  intents('matchable-intent.rules', 'spending/matchable-intent.rules'),
  intents('verification.rules', 'spending/verification.rules'),
  domain('spending/evidence')('evidence.rules', 'spending/evidence.rules'),
  network('merchant-charge.rules', 'payments/merchant-charge.rules'),
  domain('payments/simulations')('simulation.rules', 'payments/simulation.rules'),
  domain('payments/transactions')('funding-source.rules', 'payments/funding-source.rules'),
  mpp('encryption-key.rules', 'payments/mpp/encryption-key.rules'),
  wellKnown('token.rules', 'identity/token.rules'),
  wellKnown('signing-key.rules', 'identity/signing-key.rules'),
  domain('identity/approvals')('approval.rules', 'spending/approval.rules'),
  domain('oversight/access-events')('access-event.rules', 'oversight/access-event.rules'),
  domain('oversight/trace')('trace.rules', 'oversight/trace.rules'),
  domain('delivery/webhook-pages')('webhook-page.rules', 'delivery/webhook-page.rules'),
  domain('delivery/events')('settled-position.rules', 'delivery/settled-position.rules'),
  domain('cards/cards')('card-policy.rules', 'cards/card-policy.rules'),
  { file: 'src/outbound/message-signature.rules.ts', tests: ['outbound/message-signature.rules'] },
];

/** Rules that are not changed: tables whose every cell would need the same table in a test. */
export const tables: Readonly<Record<string, string>> = {
  'src/domains/spending/policies/mcc-groups.rules.ts':
    'The spans of codes are data of ISO 18245; how a code is looked up has tests in `merchant-match.rules.test.ts`.',
  'src/domains/spending/policies/merchant-words.rules.ts':
    'The words are data; the pairs of `merchant-descriptors.rules.test.ts` measure what they do together.',
  'src/domains/spending/policies/spending-facts.rules.ts':
    'It has types, lists of names that the published document shows, and the sums of an agent that has paid nothing.',
  'src/domains/treasury/sepa/reason-code.rules.ts':
    'The sentences are data of ISO 20022; how a code is looked up has tests in `bank-transfer.rules.test.ts`.',
  'src/domains/treasury/ledger/export.rules.ts': 'It has two names that the published document shows.',
  'src/events/access.rules.ts': 'It has lists of names that the published document shows.',
};
