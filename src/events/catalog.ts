/**
 * Every event name that Bursar may send, with its category and the schema of its `data`. Names without `extension`
 * are the specification's; `reserved` ones are listed to subscribers and never appended.
 * @module
 */
import * as z from 'zod';

/** The changed record's public fields: always its id, the agent where it has one, and its status. */
const record = z.looseObject({ id: z.string(), agentId: z.string().nullish(), status: z.string().nullish() });
const ofAgent = record.extend({ agentId: z.string() });
/** Of a recurring intent; the window that the event is about takes the place of its current one. */
const ofWindow = ofAgent.extend({
  matchedTransactionId: z.string().nullable(),
  window: z.looseObject({ number: z.int(), dueOn: z.string(), from: z.string(), to: z.string(), status: z.string() }),
});
const money = z.looseObject({ walletId: z.string(), amountEuros: z.number(), balanceEuros: z.number() });
const transaction = z.looseObject({
  transactionId: z.string(),
  agentId: z.string(),
  amountEuros: z.number(),
  status: z.string(),
});
/** Exactly the specification's fields; `intentId` and `merchant` only when there is one. */
const completedTransaction = z.strictObject({
  transactionId: z.string(),
  agentId: z.string(),
  intentId: z.string().optional(),
  amountEuros: z.number(),
  merchant: z.string().optional(),
  status: z.string(),
});

type Entry = {
  readonly category: string;
  readonly data: z.ZodType<Record<string, unknown>>;
  readonly extension?: true;
  readonly reserved?: true;
};

const group = <const Names extends readonly string[]>(
  category: string,
  data: Entry['data'],
  names: Names,
  more: { extension?: true; reserved?: true } = {},
): Record<Names[number], Entry> =>
  Object.fromEntries(names.map((name) => [name, { category, data, ...more }])) as Record<Names[number], Entry>;

const ours = { extension: true } as const;
const reserved = { reserved: true } as const;

export const eventCatalog = {
  ...group('Intent', ofAgent, ['intent.created', 'intent.approved', 'intent.denied', 'intent.expired']),
  ...group('Intent', ofAgent, ['intent.cancelled', 'intent.matched', 'intent.mismatched']),
  ...group('Intent', ofAgent, ['intent.completed', 'intent.failed', 'intent.attested', 'intent.verified'], ours),
  ...group('Intent window', ofWindow, ['intent_window.completed', 'intent_window.missed'], ours),
  ...group('Transaction', transaction, ['transaction.created', 'transaction.updated', 'transaction.authorization']),
  ...group('Transaction', transaction, ['transaction.settlement', 'transaction.settled', 'transaction.declined']),
  ...group('Transaction', transaction, ['transaction.refunded']),
  ...group('Transaction', completedTransaction, ['transaction.completed']),
  ...group('Card', ofAgent, ['card.issued', 'card.activated', 'card.frozen', 'card.unfrozen', 'card.closed']),
  ...group('Card', ofAgent, ['card.rotated', 'card.funded', 'card.limits_changed', 'card.details_changed']),
  ...group('Card', ofAgent, ['card.shipped'], reserved),
  ...group('Card limit request', record, ['card_limit_request.updated']),
  ...group('Wallet', z.looseObject({ walletId: z.string() }), ['wallet.created']),
  ...group('Wallet', money, ['wallet.funded', 'wallet.credited']),
  ...group('Wallet', record, ['wallet.updated', 'wallet.closed', 'funding.requested'], ours),
  ...group('Transfer', record, ['transfer.completed', 'transfer.failed', 'transfer.split.completed']),
  ...group('Risk', record, ['risk.agent_frozen', 'risk.review_required', 'risk.alert_created', 'risk.denied']),
  ...group('Risk', record, ['risk.velocity_alert', 'risk.geo_impossible']),
  ...group('Agent', record, ['agent.created', 'agent.frozen', 'agent.unfrozen']),
  ...group('Agent', record, ['agent.updated', 'agent.closed'], ours),
  ...group('Agent token', ofAgent, ['agent_token.created', 'agent_token.revoked'], ours),
  ...group('Collect', record, ['claim.request.created', 'claim.request.paid', 'claim.request.expired']),
  ...group('Collect', record, ['claim.request.cancelled']),
  ...group('Dispute', record, ['dispute.created', 'dispute.updated', 'dispute.resolved']),
  ...group('MPP', record, ['mpp.credential.minted', 'mpp.credential.consumed', 'mpp.transaction.completed']),
  ...group('MPP', record, ['mpp.credential.expired'], reserved),
  ...group('Verification and other', record, ['verification.mismatch', 'payment.updated', 'receipt.updated']),
  ...group('Evidence', ofAgent, ['evidence.created', 'evidence.deleted'], ours),
  ...group('Verification and other', record, ['bill.updated', 'cardholder.updated']),
  ...group('Verification and other', record, ['mobile_wallet.updated'], reserved),
  ...group('Customer', record, ['customer.created', 'customer.updated'], ours),
  ...group('API key', record, ['api_key.created', 'api_key.revoked'], ours),
  ...group('Passkey', record, ['passkey.enrolled', 'passkey.revoked'], ours),
  ...group('Limit', record, ['limit.updated'], ours),
  ...group('Policy', record, ['policy.created', 'policy.updated', 'policy.deleted', 'policy.expired'], ours),
  ...group('Webhook', record, ['webhook.created', 'webhook.updated', 'webhook.deleted'], ours),
} as const satisfies Record<string, Entry>;

export type EventName = keyof typeof eventCatalog;
export const eventNames = Object.keys(eventCatalog) as EventName[];

export function isEventName(name: string): name is EventName {
  return Object.hasOwn(eventCatalog, name);
}

export const isReserved = (name: EventName): boolean => (eventCatalog[name] as Entry).reserved === true;
export const categoryOf = (name: EventName): string => eventCatalog[name].category;

/** Throws when `data` is not what subscribers were promised: that is a bug, and nothing is written. */
export function parseEventData(name: EventName, data: Record<string, unknown>): Record<string, unknown> {
  if (isReserved(name)) throw new Error(`event ${name} is reserved and never sent`);
  return eventCatalog[name].data.parse(data);
}
