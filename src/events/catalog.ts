/**
 * Every event name that Bursar may send, with its category and the schema of its `data`. Names without `extension`
 * are the specification's; `reserved` ones are listed to subscribers and never appended.
 * @module
 */

import type * as z from 'zod';
import { recordData } from './fields.ts';
import { accessEventData } from './shapes/access-event.ts';
import { agentChangeData, agentData } from './shapes/agent.ts';
import { agentTokenData } from './shapes/agent-token.ts';
import { apiKeyData } from './shapes/api-key.ts';
import { beneficiaryData } from './shapes/beneficiary.ts';
import { cardChangeData, cardData, cardFundingData, cardRotationData } from './shapes/card.ts';
import { cardRequestData } from './shapes/card-request.ts';
import { customerChangeData, customerData } from './shapes/customer.ts';
import { evidenceData } from './shapes/evidence.ts';
import { intentData, intentMismatchData, intentVerificationData, intentWindowData } from './shapes/intent.ts';
import { limitData } from './shapes/limit.ts';
import { merchantData, merchantKeyData } from './shapes/merchant.ts';
import { mppCredentialData } from './shapes/mpp-credential.ts';
import { mppPaymentData } from './shapes/mpp-payment.ts';
import { passkeyData, revokedPasskeyData } from './shapes/passkey.ts';
import { passkeyInvitationData } from './shapes/passkey-invitation.ts';
import { expiredPolicyData, policyData } from './shapes/policy.ts';
import { protectRuleData } from './shapes/protect-rule.ts';
import { pushSubscriptionData } from './shapes/push-subscription.ts';
import { agentRiskData, riskAlertData, riskReviewData } from './shapes/risk.ts';
import {
  completedTransactionData,
  decidedTransactionData,
  transactionData,
  updatedTransactionData,
} from './shapes/transaction.ts';
import { transferData, transferSplitData } from './shapes/transfer.ts';
import { creditData, fundingData, newWalletData, walletData, walletFundingData } from './shapes/wallet.ts';
import {
  deadLetterData,
  requestedDeliveriesData,
  retriedDeliveriesData,
  webhookData,
  webhookPageLinkData,
} from './shapes/webhook.ts';

type Entry = {
  readonly category: string;
  readonly data: z.ZodObject;
  readonly extension?: true;
  readonly reserved?: true;
};

const group = <const Names extends readonly string[], Data extends z.ZodObject>(
  category: string,
  data: Data,
  names: Names,
  more: { extension?: true; reserved?: true } = {},
): Record<Names[number], Omit<Entry, 'data'> & { readonly data: Data }> =>
  Object.fromEntries(names.map((name) => [name, { category, data, ...more }])) as Record<
    Names[number],
    Omit<Entry, 'data'> & { readonly data: Data }
  >;

const ours = { extension: true } as const;
const reserved = { reserved: true } as const;
const other = 'Verification and other';
const collect = recordData('CollectEventData');
const dispute = recordData('DisputeEventData');

export const eventCatalog = {
  ...group('Intent', intentData, ['intent.created', 'intent.approved', 'intent.denied', 'intent.expired']),
  ...group('Intent', intentData, ['intent.cancelled', 'intent.matched']),
  ...group('Intent', intentMismatchData, ['intent.mismatched']),
  ...group('Intent', intentData, ['intent.completed', 'intent.failed', 'intent.attested'], ours),
  ...group('Intent', intentVerificationData, ['intent.verified'], ours),
  ...group('Intent window', intentWindowData, ['intent_window.completed', 'intent_window.missed'], ours),
  ...group('Transaction', transactionData, ['transaction.created']),
  ...group('Transaction', updatedTransactionData, ['transaction.updated']),
  ...group('Transaction', decidedTransactionData, ['transaction.authorization', 'transaction.declined']),
  ...group('Transaction', transactionData, ['transaction.settlement', 'transaction.settled']),
  ...group('Transaction', transactionData, ['transaction.refunded']),
  ...group('Transaction', completedTransactionData, ['transaction.completed']),
  ...group('Card', cardData, ['card.issued', 'card.activated', 'card.frozen', 'card.unfrozen', 'card.closed']),
  ...group('Card', cardRotationData, ['card.rotated']),
  ...group('Card', cardFundingData, ['card.funded']),
  ...group('Card', cardChangeData, ['card.limits_changed', 'card.details_changed']),
  ...group('Card', cardData, ['card.shipped'], reserved),
  ...group('Card limit request', cardRequestData, ['card_limit_request.updated']),
  ...group('Card request', cardRequestData, ['card_request.created', 'card_request.reminded'], ours),
  ...group('Card request', cardRequestData, ['card_request.decided', 'card_request.expired'], ours),
  ...group('Wallet', newWalletData, ['wallet.created']),
  ...group('Wallet', walletFundingData, ['wallet.funded']),
  ...group('Wallet', creditData, ['wallet.credited']),
  ...group('Wallet', walletData, ['wallet.updated', 'wallet.closed'], ours),
  ...group('Wallet', fundingData, ['funding.requested'], ours),
  ...group('Transfer', transferData, ['transfer.completed', 'transfer.failed']),
  ...group('Transfer', transferData, ['transfer.created', 'transfer.updated', 'transfer.reminded'], ours),
  ...group('Transfer', transferSplitData, ['transfer.split.completed']),
  ...group('Transfer', transferSplitData, ['transfer.split.created', 'transfer.split.updated'], ours),
  ...group('Risk', agentRiskData, ['risk.agent_frozen', 'risk.denied', 'risk.velocity_alert']),
  ...group('Risk', agentRiskData, ['risk.geo_impossible']),
  ...group('Risk', riskReviewData, ['risk.review_required']),
  ...group('Risk', riskAlertData, ['risk.alert_created']),
  ...group('Agent', agentData, ['agent.created', 'agent.frozen', 'agent.unfrozen']),
  ...group('Agent', agentData, ['agent.closed', 'agent_key.rotated'], ours),
  ...group('Agent', agentChangeData, ['agent.updated'], ours),
  ...group('Agent token', agentTokenData, ['agent_token.created', 'agent_token.revoked'], ours),
  ...group('Collect', collect, ['claim.request.created', 'claim.request.paid', 'claim.request.expired']),
  ...group('Collect', collect, ['claim.request.cancelled']),
  ...group('Dispute', dispute, ['dispute.created', 'dispute.updated', 'dispute.resolved']),
  ...group('MPP', mppCredentialData, ['mpp.credential.minted', 'mpp.credential.consumed']),
  ...group('MPP', mppCredentialData, ['mpp.transaction.completed']),
  ...group('MPP', mppCredentialData, ['mpp.credential.expired'], reserved),
  ...group('MPP', mppCredentialData, ['mpp.credential.revoked'], ours),
  ...group('MPP', mppPaymentData, ['mpp.payment.created', 'mpp.payment.updated'], ours),
  ...group('MPP', mppPaymentData, ['mpp.payment.unresolved', 'mpp.payment.resolved'], ours),
  ...group(other, intentVerificationData, ['verification.mismatch']),
  ...group(other, recordData('PaymentEventData'), ['payment.updated']),
  ...group(other, recordData('ReceiptEventData'), ['receipt.updated']),
  ...group('Evidence', evidenceData, ['evidence.created', 'evidence.deleted'], ours),
  ...group(other, recordData('BillEventData'), ['bill.updated']),
  ...group(other, customerChangeData, ['cardholder.updated']),
  ...group(other, recordData('MobileWalletEventData'), ['mobile_wallet.updated'], reserved),
  ...group('Customer', customerData, ['customer.created'], ours),
  ...group('Customer', customerChangeData, ['customer.updated'], ours),
  ...group('API key', apiKeyData, ['api_key.created', 'api_key.revoked'], ours),
  ...group('Passkey', passkeyData, ['passkey.enrolled'], ours),
  ...group('Passkey', revokedPasskeyData, ['passkey.revoked'], ours),
  ...group('Passkey', passkeyInvitationData, ['passkey_invitation.created', 'passkey_invitation.revoked'], ours),
  ...group('Limit', limitData, ['limit.updated'], ours),
  ...group('Policy', policyData, ['policy.created', 'policy.updated', 'policy.deleted'], ours),
  ...group('Policy', expiredPolicyData, ['policy.expired'], ours),
  ...group('Webhook', webhookData, ['webhook.created', 'webhook.updated', 'webhook.deleted'], ours),
  ...group('Webhook', webhookData, ['webhook_secret.rotated'], ours),
  ...group('Webhook', requestedDeliveriesData, ['webhook_delivery.requested'], ours),
  ...group(
    'Webhook',
    retriedDeliveriesData,
    ['webhook_delivery.retry_requested', 'webhook_delivery.abandon_requested'],
    ours,
  ),
  ...group('Webhook', webhookPageLinkData, ['webhook_page_link.created', 'webhook_page_link.revoked'], ours),
  ...group('Webhook', deadLetterData, ['dead_letter.deleted'], ours),
  ...group('Push', pushSubscriptionData, ['device.created', 'device.updated'], ours),
  ...group('Push', pushSubscriptionData, ['device.deleted', 'device.tested'], ours),
  ...group('Access', accessEventData, ['access.granted', 'access.denied'], ours),
  ...group('Merchant', merchantData, ['merchant.registered'], ours),
  ...group('Merchant', merchantKeyData, ['merchant_key.rotated'], ours),
  ...group('Merchant', merchantKeyData, ['merchant_encryption_key.created', 'merchant_encryption_key.activated'], ours),
  ...group('MPP', protectRuleData, ['mpp_rule.created', 'mpp_rule.deleted'], ours),
  ...group('Beneficiary', beneficiaryData, ['beneficiary.created', 'beneficiary.updated', 'beneficiary.deleted'], ours),
} as const satisfies Record<string, Entry>;

export type EventName = keyof typeof eventCatalog;
/** The `data` that subscribers of that event were promised. */
export type EventData<Name extends EventName> = z.output<(typeof eventCatalog)[Name]['data']>;
/** Names of the events with the same `data` as that one. */
export type EventsLike<Name extends EventName> = {
  [Other in EventName]: (typeof eventCatalog)[Other]['data'] extends (typeof eventCatalog)[Name]['data']
    ? (typeof eventCatalog)[Name]['data'] extends (typeof eventCatalog)[Other]['data']
      ? Other
      : never
    : never;
}[EventName];

export const eventNames = Object.keys(eventCatalog) as EventName[];

export function isEventName(name: string): name is EventName {
  return Object.hasOwn(eventCatalog, name);
}

export const isReserved = (name: EventName): boolean => (eventCatalog[name] as Entry).reserved === true;
export const isExtension = (name: EventName): boolean => (eventCatalog[name] as Entry).extension === true;
export const categoryOf = (name: EventName): string => eventCatalog[name].category;

/** Throws when `data` is not exactly what subscribers were promised: that is a bug, and nothing is written. */
export function parseEventData(name: EventName, data: unknown): Record<string, unknown> {
  if (isReserved(name)) throw new Error(`event ${name} is reserved and never sent`);
  const parsed = eventCatalog[name].data.safeParse(data);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'data'}: ${message}`);
  throw new Error(`the data of ${name} is not what its schema promises: ${faults.join('; ')}`);
}
