/**
 * The `data` of every event: one strict shape per noun, with ids, states, amounts, codes and instants. A shape never
 * has a field for a secret, a link, an IBAN, a name, an address or free text, because events leave the deployment.
 * @module
 */
import * as z from 'zod';
import { type IdKind, idPattern, idPrefixes } from '../kernel/ids.ts';

const id = (kind: IdKind) =>
  z
    .string()
    .regex(idPattern(kind))
    .meta({ description: `id of the ${kind}, ${idPrefixes[kind]}_…` });
/** An id that the card network or the merchant made. */
const outsideId = z.string().max(200);
/** A state or a code: lower case, without spaces, so that no sentence fits. */
const code = z.string().regex(/^[a-z][a-z0-9_.]{0,79}$/);
const codes = z.array(code);
/** Names of fields of the wire schema. */
const fieldNames = z.array(z.string().regex(/^[a-z][A-Za-z0-9]{0,79}$/));
const euros = z.number().meta({ description: 'euros, at most two decimals' });
const count = z.int();
const instant = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .meta({ format: 'date-time', description: 'ISO 8601, UTC, milliseconds' });
const date = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/)
  .meta({ format: 'date' });
const mcc = z.string().regex(/^\d{4}$/);
const country = z.string().regex(/^[A-Z]{2}$/);
const currency = z.string().regex(/^[A-Z]{3}$/);

/** `id` of every shape is the subject's: events with the same `id` are the ones that X-Service-Sequence sorts. */
const named = <Fields extends z.ZodRawShape>(name: string, fields: Fields) =>
  z.strictObject(fields).meta({ title: name });

const intentFields = {
  id: id('intent'),
  ownerId: id('owner'),
  agentId: id('agent'),
  cardId: id('card'),
  status: code,
  expectedAmountEuros: euros,
  recurring: z
    .strictObject({
      cadence: code,
      windowStartDaysBefore: count,
      windowEndDaysAfter: count,
      amountTolerancePercent: z.number(),
      merchantMatch: z.boolean(),
    })
    .nullable(),
  expiresAt: instant,
  approvedAt: instant.nullable(),
  completedAt: instant.nullable(),
  matchedTransactionId: id('transaction').nullable(),
  transactionId: id('transaction').nullable(),
  attestedAt: instant.nullable(),
  verified: z.boolean(),
  createdAt: instant,
};
const windowFields = { number: count, dueOn: date, from: instant, to: instant };
export const intentData = named('IntentEventData', {
  ...intentFields,
  window: z.strictObject({ ...windowFields, status: code.optional() }).nullable(),
});
export const intentMismatchData = named('IntentMismatchEventData', {
  ...intentData.shape,
  transactionId: id('transaction'),
  misfits: codes.meta({ description: 'what did not fit: `amount`, `merchant`, `window`' }),
});
export const intentVerificationData = named('IntentVerificationEventData', {
  ...intentData.shape,
  intentId: id('intent'),
  mismatches: codes.meta({ description: 'what differs from the receipt: `amount`, `merchant`' }),
});
export const intentWindowData = named('IntentWindowEventData', {
  ...intentFields,
  window: z.strictObject({ ...windowFields, status: code }),
});

export const transactionData = named('TransactionEventData', {
  id: id('transaction'),
  transactionId: id('transaction'),
  ownerId: id('owner'),
  agentId: id('agent'),
  intentId: id('intent').nullable(),
  cardId: id('card').nullable(),
  walletId: id('wallet').nullable(),
  amountEuros: euros,
  heldEuros: euros,
  clearedEuros: euros,
  refundedEuros: euros,
  currency: z.literal('EUR'),
  merchantId: outsideId.nullable(),
  merchantMcc: mcc.nullable(),
  merchantCountry: country.nullable(),
  merchantAmount: z.number().nullable(),
  merchantCurrency: currency.nullable(),
  rail: code,
  type: code,
  status: code,
  verified: z.boolean(),
  verifiedAt: instant.nullable(),
  issuerAuthorizationId: outsideId.nullable(),
  issuerSettlementId: outsideId.nullable(),
  originalTransactionId: id('transaction').nullable(),
  declineRule: code.nullable(),
  confirmedAt: instant.nullable(),
  completedAt: instant.nullable(),
  createdAt: instant,
  updatedAt: instant,
});
/** The fields of the specification and no others; `intentId` and `merchant` only when there is one. */
export const completedTransactionData = named('TransactionCompletedEventData', {
  transactionId: id('transaction'),
  agentId: id('agent'),
  intentId: id('intent').optional(),
  amountEuros: euros,
  merchant: z.string().optional(),
  status: code,
});

export const cardData = named('CardEventData', {
  id: id('card'),
  ownerId: id('owner'),
  agentId: id('agent'),
  status: code,
  frozenBy: code.nullable(),
  usage: code,
  isPrimary: z.boolean(),
  maxTransactionEuros: euros.nullable(),
  dailyLimitEuros: euros.nullable(),
  monthlyLimitEuros: euros.nullable(),
  createdAt: instant,
  closedAt: instant.nullable(),
});
export const cardChangeData = named('CardChangeEventData', {
  ...cardData.shape,
  changed: fieldNames.meta({ description: 'the fields that changed' }),
});
export const cardRotationData = named('CardRotationEventData', { ...cardData.shape, previousCardId: id('card') });
export const cardFundingData = named('CardFundingEventData', {
  id: id('card'),
  ownerId: id('owner'),
  agentId: id('agent'),
  status: code,
  amountEuros: euros,
  balanceEuros: euros,
});

export const walletData = named('WalletEventData', {
  id: id('wallet'),
  walletId: id('wallet'),
  ownerId: id('owner'),
  status: code,
  isDefault: z.boolean(),
});
export const newWalletData = named('WalletCreatedEventData', {
  ...walletData.shape,
  parentWalletId: id('wallet').nullable(),
});
const credited = {
  ownerId: id('owner'),
  walletId: id('wallet'),
  amountEuros: euros,
  balanceEuros: euros.meta({ description: 'available right after, in euros' }),
  source: code,
};
export const walletFundingData = named('WalletFundingEventData', {
  id: id('wallet'),
  ...credited,
  fundingId: id('funding'),
});
/** Credited is a wallet by a funding, or an agent's budget out of its wallet: `id` and `account` say which. */
export const creditData = named('WalletCreditEventData', {
  id: z.union([id('wallet'), id('agent')]),
  ...credited,
  agentId: id('agent').nullable(),
  account: z
    .string()
    .regex(/^(wallet|agent):[a-z0-9_]+:available$/)
    .meta({ description: 'the ledger account that was credited' }),
  fundingId: id('funding').nullable(),
});
export const fundingData = named('FundingEventData', {
  id: id('funding'),
  ownerId: id('owner'),
  walletId: id('wallet'),
  status: code,
  amountEuros: euros,
});

const riskFields = {
  id: id('transaction'),
  transactionId: id('transaction'),
  ownerId: id('owner'),
  agentId: id('agent'),
  status: code,
  action: code,
  signals: codes,
};
export const riskAlertData = named('RiskAlertEventData', {
  ...riskFields,
  beyondEuros: euros.meta({ description: 'collected beyond the hold, in euros' }),
  receivableEuros: euros.meta({ description: 'owed because the money was not there, in euros' }),
});
export const riskReviewData = named('RiskReviewEventData', {
  ...riskFields,
  intentId: id('intent').meta({ description: 'the intent that waits for a decision' }),
  amountEuros: euros,
});
export const agentRiskData = named('AgentRiskEventData', {
  id: id('agent'),
  ownerId: id('owner'),
  agentId: id('agent'),
  status: code,
  action: code,
  signals: codes,
});

export const agentData = named('AgentEventData', {
  id: id('agent'),
  agentId: id('agent'),
  ownerId: id('owner'),
  status: code,
  walletId: id('wallet'),
  funding: code,
  createdAt: instant,
});
export const agentChangeData = named('AgentChangeEventData', {
  ...agentData.shape,
  changed: fieldNames.meta({ description: 'the fields that changed' }),
});
export const agentTokenData = named('AgentTokenEventData', {
  id: id('token'),
  ownerId: id('owner'),
  agentId: id('agent'),
  status: code,
  scopes: z.array(z.string().regex(/^(\*|[a-z]+\.[a-z]+)$/)),
  expiresAt: instant.nullable(),
});
export const apiKeyData = named('ApiKeyEventData', { id: id('key'), ownerId: id('owner'), status: code });
export const passkeyData = named('PasskeyEventData', {
  id: id('passkey'),
  ownerId: id('owner'),
  status: code,
  transports: z.array(z.string().regex(/^[a-z-]{1,32}$/)),
  backedUp: z.boolean(),
  createdAt: instant,
  approvesFrom: instant,
});
export const revokedPasskeyData = named('PasskeyRevokedEventData', {
  ...passkeyData.shape,
  remaining: count.meta({ description: 'passkeys that are left' }),
  approvalsBlockedUntil: instant.nullable(),
});
export const limitData = named('LimitEventData', {
  id: z
    .string()
    .regex(/^[a-z][A-Za-z_]{0,79}$/)
    .meta({ description: 'name of the limit' }),
  ownerId: id('owner'),
  limit: count,
  previousLimit: count,
});
export const customerData = named('CustomerEventData', {
  id: id('customer'),
  ownerId: id('owner'),
  type: code,
  status: code,
  plan: code,
});
export const customerChangeData = named('CustomerChangeEventData', {
  ...customerData.shape,
  changed: fieldNames.meta({ description: 'the fields that changed, without their values' }),
});
const cardLimits = {
  maxTransactionEuros: euros.nullable(),
  dailyLimitEuros: euros.nullable(),
  monthlyLimitEuros: euros.nullable(),
};
export const cardRequestData = named('CardRequestEventData', {
  id: id('cardRequest'),
  ownerId: id('owner'),
  agentId: id('agent'),
  type: code,
  cardId: id('card').nullable().meta({ description: 'the card to change, or the card that the approval issued' }),
  status: code,
  granted: z.strictObject(cardLimits).nullable().meta({ description: 'null unless approved' }),
  decidedAt: instant.nullable(),
  remindedAt: instant.nullable(),
  expiresAt: instant,
  createdAt: instant,
});
export const evidenceData = named('EvidenceEventData', {
  id: id('evidence'),
  ownerId: id('owner'),
  agentId: id('agent'),
  intentId: id('intent'),
  type: code,
  amountEuros: euros.nullable(),
  createdAt: instant,
});
export const policyData = named('PolicyEventData', {
  id: id('policy'),
  ownerId: id('owner'),
  agentId: id('agent').nullable().meta({ description: 'null for a template' }),
  version: count,
  maxTransactionEuros: euros.nullable(),
  dailyLimitEuros: euros.nullable(),
  monthlyLimitEuros: euros.nullable(),
  autoApproveLimitEuros: euros.nullable(),
  mccCategories: z.array(z.string().max(80)),
  allowedMccs: z.array(mcc),
  blockedMccs: z.array(mcc),
  allowedCountries: z.array(country),
  lockToFirstMerchant: z.boolean(),
  cooldownMinutes: count.nullable(),
  requireIntent: z.boolean(),
  requireAttestation: z.boolean(),
  attestationWindowMinutes: count.nullable(),
  expiresAfterMinutes: count.nullable(),
  expirationAction: code,
  activeHoursStart: count.nullable(),
  activeHoursEnd: count.nullable(),
  maxUsageCount: count.nullable(),
  amountTolerancePercent: z.number().nullable(),
  createdAt: instant,
  updatedAt: instant,
  expiresAt: instant.nullable(),
});
export const expiredPolicyData = named('PolicyExpiredEventData', {
  ...policyData.shape,
  action: code,
  expiredAt: instant,
  cards: count.meta({ description: 'how many cards the action changed' }),
});
export const webhookData = named('WebhookEventData', {
  id: id('webhook'),
  ownerId: id('owner'),
  status: code,
  events: z.array(z.string().regex(/^(\*|[a-z_]+(\.[a-z_]+)+)$/)),
  createdAt: instant,
  updatedAt: instant,
});

/** Of nouns whose areas add their own fields when they are built. */
export const recordData = (name: string) =>
  named(name, { id: z.string(), ownerId: id('owner'), agentId: id('agent').nullable(), status: code });
