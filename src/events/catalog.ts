/**
 * Every event name that Bursar may send, with its category and the schema of its `data`. Names without `extension`
 * are the specification's; `reserved` ones are listed to subscribers and never appended.
 * @module
 */
import type * as z from 'zod';
import * as shape from './shapes.ts';

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
const collect = shape.recordData('CollectEventData');
const dispute = shape.recordData('DisputeEventData');
const transfer = shape.recordData('TransferEventData');
const mpp = shape.recordData('MppEventData');

export const eventCatalog = {
  ...group('Intent', shape.intentData, ['intent.created', 'intent.approved', 'intent.denied', 'intent.expired']),
  ...group('Intent', shape.intentData, ['intent.cancelled', 'intent.matched']),
  ...group('Intent', shape.intentMismatchData, ['intent.mismatched']),
  ...group('Intent', shape.intentData, ['intent.completed', 'intent.failed', 'intent.attested'], ours),
  ...group('Intent', shape.intentVerificationData, ['intent.verified'], ours),
  ...group('Intent window', shape.intentWindowData, ['intent_window.completed', 'intent_window.missed'], ours),
  ...group('Transaction', shape.transactionData, ['transaction.created', 'transaction.updated']),
  ...group('Transaction', shape.transactionData, ['transaction.authorization', 'transaction.settlement']),
  ...group('Transaction', shape.transactionData, ['transaction.settled', 'transaction.declined']),
  ...group('Transaction', shape.transactionData, ['transaction.refunded']),
  ...group('Transaction', shape.completedTransactionData, ['transaction.completed']),
  ...group('Card', shape.cardData, ['card.issued', 'card.activated', 'card.frozen', 'card.unfrozen', 'card.closed']),
  ...group('Card', shape.cardRotationData, ['card.rotated']),
  ...group('Card', shape.cardFundingData, ['card.funded']),
  ...group('Card', shape.cardChangeData, ['card.limits_changed', 'card.details_changed']),
  ...group('Card', shape.cardData, ['card.shipped'], reserved),
  ...group('Card limit request', shape.cardRequestData, ['card_limit_request.updated']),
  ...group('Card request', shape.cardRequestData, ['card_request.created', 'card_request.reminded'], ours),
  ...group('Card request', shape.cardRequestData, ['card_request.decided', 'card_request.expired'], ours),
  ...group('Wallet', shape.newWalletData, ['wallet.created']),
  ...group('Wallet', shape.walletFundingData, ['wallet.funded']),
  ...group('Wallet', shape.creditData, ['wallet.credited']),
  ...group('Wallet', shape.walletData, ['wallet.updated', 'wallet.closed'], ours),
  ...group('Wallet', shape.fundingData, ['funding.requested'], ours),
  ...group('Transfer', transfer, ['transfer.completed', 'transfer.failed', 'transfer.split.completed']),
  ...group('Risk', shape.agentRiskData, ['risk.agent_frozen', 'risk.denied', 'risk.velocity_alert']),
  ...group('Risk', shape.agentRiskData, ['risk.geo_impossible']),
  ...group('Risk', shape.riskReviewData, ['risk.review_required']),
  ...group('Risk', shape.riskAlertData, ['risk.alert_created']),
  ...group('Agent', shape.agentData, ['agent.created', 'agent.frozen', 'agent.unfrozen']),
  ...group('Agent', shape.agentData, ['agent.closed'], ours),
  ...group('Agent', shape.agentChangeData, ['agent.updated'], ours),
  ...group('Agent token', shape.agentTokenData, ['agent_token.created', 'agent_token.revoked'], ours),
  ...group('Collect', collect, ['claim.request.created', 'claim.request.paid', 'claim.request.expired']),
  ...group('Collect', collect, ['claim.request.cancelled']),
  ...group('Dispute', dispute, ['dispute.created', 'dispute.updated', 'dispute.resolved']),
  ...group('MPP', mpp, ['mpp.credential.minted', 'mpp.credential.consumed', 'mpp.transaction.completed']),
  ...group('MPP', mpp, ['mpp.credential.expired'], reserved),
  ...group(other, shape.intentVerificationData, ['verification.mismatch']),
  ...group(other, shape.recordData('PaymentEventData'), ['payment.updated']),
  ...group(other, shape.recordData('ReceiptEventData'), ['receipt.updated']),
  ...group('Evidence', shape.evidenceData, ['evidence.created', 'evidence.deleted'], ours),
  ...group(other, shape.recordData('BillEventData'), ['bill.updated']),
  ...group(other, shape.customerChangeData, ['cardholder.updated']),
  ...group(other, shape.recordData('MobileWalletEventData'), ['mobile_wallet.updated'], reserved),
  ...group('Customer', shape.customerData, ['customer.created'], ours),
  ...group('Customer', shape.customerChangeData, ['customer.updated'], ours),
  ...group('API key', shape.apiKeyData, ['api_key.created', 'api_key.revoked'], ours),
  ...group('Passkey', shape.passkeyData, ['passkey.enrolled'], ours),
  ...group('Passkey', shape.revokedPasskeyData, ['passkey.revoked'], ours),
  ...group('Limit', shape.limitData, ['limit.updated'], ours),
  ...group('Policy', shape.policyData, ['policy.created', 'policy.updated', 'policy.deleted'], ours),
  ...group('Policy', shape.expiredPolicyData, ['policy.expired'], ours),
  ...group('Webhook', shape.webhookData, ['webhook.created', 'webhook.updated', 'webhook.deleted'], ours),
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
export const categoryOf = (name: EventName): string => eventCatalog[name].category;

/** Throws when `data` is not exactly what subscribers were promised: that is a bug, and nothing is written. */
export function parseEventData(name: EventName, data: unknown): Record<string, unknown> {
  if (isReserved(name)) throw new Error(`event ${name} is reserved and never sent`);
  const parsed = eventCatalog[name].data.safeParse(data);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'data'}: ${message}`);
  throw new Error(`the data of ${name} is not what its schema promises: ${faults.join('; ')}`);
}
