/**
 * All facts of the decisions on authorizations, read in one round trip and one snapshot, without locks. Shapes only;
 * authorization.rules.ts evaluates them.
 * @module
 */
import * as z from 'zod';
import { columnRow, jsonColumns, jsonInstant, nullWhereAbsent } from '../../../db/column-row.ts';
import { centsValue } from '../../../db/row-values.ts';
import { rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { add, cents } from '../../../kernel/money.ts';
import { IntentSchema, IntentWindowSchema } from '../../spending/intents/index.ts';
import { matchableIntent, whyKeptForPayment } from '../../spending/intents/matchable-intent.rules.ts';
import type { TakenWindow } from '../../spending/intents/windows/recurrence.rules.ts';
import {
  type CardControls,
  holderStatuses,
  PolicySchema,
  type RequestFacts,
  type RiskFacts,
  spendingCounters,
} from '../../spending/policies/index.ts';
import { MppCredentialSchema } from '../mpp-credentials/mpp-credential.entity.ts';
import { type SimulationFacts, simulationFactsOf } from '../simulations/simulation.queries.ts';
import { TransactionSchema } from '../transactions/transaction.entity.ts';
import { reversalsOf } from '../transactions/transaction.queries.ts';
import { noReversals, type Reversals } from '../transactions/transaction.rules.ts';
import type { Candidate, DecisionFacts, PriorMessages, TokenFacts } from './authorization.rules.ts';
import {
  type AuthorizationMessage,
  authorizationAnswer,
  clearingMessage,
  reversalMessage,
} from './network.contract.ts';

export const knownAnswer = z.object({ requestHash: z.string(), answer: authorizationAnswer.strip() });
export type Known = z.output<typeof knownAnswer>;

/** A clearing, reversal or refund that waits for its authorization. `cardRef` of another card: it is not booked. */
const earlyColumns = {
  id: z.string(),
  kind: z.enum(['clearing', 'reversal', 'refund']),
  cardRef: z.string(),
  body: z.record(z.string(), z.unknown()),
  /** Of the request that carried it; null for what waited while an older version ran. */
  requestId: z.string().nullable(),
};
const earlyMessages = z.array(columnRow(earlyColumns));
export type EarlyMessage = z.output<typeof earlyMessages>[number];

const list = z.array(z.string());

/** Its fields are not columns, so they keep their names. */
const cardControls: z.ZodType<CardControls> = z.object({
  allowedMerchants: list,
  blockedMerchants: list,
  allowedCountries: list,
  blockedCountries: list,
  allowedMccs: list,
  blockedMccs: list,
});

const card = columnRow({
  id: z.string(),
  ownerId: z.string(),
  agentId: z.string(),
  status: z.enum(holderStatuses),
  usage: z.enum(['single', 'multi']),
  isProvisioning: z.boolean(),
  expiryMonth: z.int().nullable(),
  expiryYear: z.int().nullable(),
  maxTransactionCents: centsValue.nullable(),
  dailyLimitCents: centsValue.nullable(),
  monthlyLimitCents: centsValue.nullable(),
  controls: cardControls.nullable(),
  version: z.int(),
});

const agent = columnRow({
  id: z.string(),
  ownerId: z.string(),
  status: z.enum(holderStatuses),
  walletId: z.string(),
  version: z.int(),
});

const intent = columnRow(jsonColumns(IntentSchema));

/** Of a recurring intent: the rows of the windows that the question and its open payment fall in. */
const taken = z.array(columnRow(jsonColumns(IntentWindowSchema, ['number', 'status', 'transactionId'])));

const openColumns = [
  ...(['id', 'ownerId', 'agentId', 'cardId', 'status', 'version', 'expectedAmountCents', 'expectedMerchant'] as const),
  ...(['recurring', 'expiresAt', 'openPaymentId', 'openPaymentAt', 'isAutoApproved', 'approvedAt'] as const),
  ...(['attestedAt', 'transactionId', 'declinedCharge', 'allowsOnceOf', 'verified', 'createdAt'] as const),
  ...(['requestId', 'runId'] as const),
] as const;
/** An intent that is for one payment has none of these while it is open, so they are read of recurring ones alone. */
const recurringColumns = [
  ...(['anchorAt', 'windowNumber', 'windowDueAt', 'windowFromAt', 'windowToAt'] as const),
  ...(['completedAt', 'matchedTransactionId', 'transferId'] as const),
] as const;

/**
 * What the decision, its events and its writing look at. A card may have many open intents, of which one pays, so they
 * are not read whole.
 */
const openIntent = columnRow({
  ...jsonColumns(IntentSchema, openColumns),
  ...nullWhereAbsent(jsonColumns(IntentSchema, recurringColumns)),
  taken: taken.nullish(),
});

/** A transaction that a confirm wrote before any authorization came, with its intent. */
const confirmed = columnRow({ ...jsonColumns(TransactionSchema), intent });

/** A transaction booked from clearings whose authorization had not come. */
const orphan = columnRow({ ...jsonColumns(TransactionSchema), cardRef: z.string(), isReversed: z.boolean() });

const credentialColumns = [
  ...(['id', 'ownerId', 'agentId', 'intentId', 'cardId', 'merchantId'] as const),
  ...(['amountCents', 'currency', 'status', 'expiresAt', 'transactionId'] as const),
] as const;

/** A checkout's payment token, or one inside an MPP credential. */
const paymentToken = columnRow({
  kind: z.enum(['checkout', 'credential']),
  id: z.string(),
  intentId: z.string(),
  ceilingCents: centsValue.nullable(),
  /** A token is good for one authorization, however that ended. */
  isUsed: z.boolean(),
  isExpired: z.boolean(),
  isRevoked: z.boolean(),
  /** The only merchant that a credential pays, where its challenge names one; and the host that it is presented to. */
  recipient: z.string().nullable(),
  host: z.string().nullable(),
  /** Of the record: a credential that its merchant has verified has a transaction before any authorization. */
  transactionId: z.string().nullable(),
  /** The machine payment that minted it. */
  paymentId: z.string().nullish(),
  requestId: z.string(),
  runId: z.string().nullable(),
  /** What its events show of it. */
  credential: columnRow(jsonColumns(MppCredentialSchema, credentialColumns)).nullish(),
});

const factsOfCard = columnRow({
  early: earlyMessages,
  orphan: orphan.nullable(),
  card,
  agent,
  policy: columnRow(jsonColumns(PolicySchema)).nullable(),
  /** The record that the payment token was minted for; account checks carry none. */
  token: paymentToken.nullable(),
  intents: z.array(openIntent),
  confirmed: z.array(confirmed),
  /** Without this very payment, where a part of it was collected before. */
  counters: spendingCounters(jsonInstant),
  /** `wallet:wal_…` or `agent:ag_…`. */
  fundingSource: z.string(),
  availableCents: centsValue,
  revision: z.int(),
});

const unknownCard = z.object({ early: earlyMessages });

export type OpenIntent = z.output<typeof openIntent>;
export type ConfirmedTransaction = z.output<typeof confirmed>;
export type OrphanTransaction = z.output<typeof orphan>;

export type AuthorizationFacts = z.output<typeof factsOfCard> & {
  /** Of a charge that Bursar asked the simulated network for. */
  readonly simulation?: SimulationFacts | undefined;
  /** The machine payment that asks before it sends its credential, and so carries no token. */
  readonly paymentId?: string | null | undefined;
  /** Of what was booked before the authorization came, where there are any. */
  readonly reversals?: Reversals | undefined;
};

export type Loaded =
  | { readonly known: Known }
  | { readonly unknownCard: true; readonly early: readonly EarlyMessage[] }
  | { readonly facts: AuthorizationFacts };

export type Question = {
  readonly adapter: string;
  readonly id: string;
  readonly cardRef: string;
  readonly tokenHash: string | null;
  readonly simulationId?: string | undefined;
  readonly at: Date;
};

const documentOfFacts = z.object({ facts: z.record(z.string(), z.unknown()) });

/**
 * Of the statements that read and write a batch, which wait for no lock as long. A lane whose connection is silent is
 * free again afterwards; the network decides what waited in it, and says so with an advice.
 */
export const answeredWithinMs = 10_000;

/** In the order of the questions. Without what a simulated charge asked for. */
export async function loadAuthorizations(tx: Tx, questions: readonly Question[]): Promise<Loaded[]> {
  const found = await rowsOf(
    tx,
    documentOfFacts,
    'select facts from load_authorizations($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])',
    [
      questions.map(({ adapter }) => adapter),
      questions.map(({ id }) => id),
      questions.map(({ cardRef }) => cardRef),
      questions.map(({ tokenHash }) => tokenHash),
      questions.map(({ at }) => at),
    ],
    { answeredWithinMs },
  );
  return found.map(({ facts }) => {
    if ('known' in facts) return { known: knownAnswer.parse(facts.known) };
    if (facts.card === null) return { unknownCard: true, ...unknownCard.parse(facts) };
    return { facts: factsOfCard.parse(facts) };
  });
}

/** Of one authorization; refuses one that the network collected for from another card. */
export async function loadAuthorizationFacts(tx: Tx, question: Question): Promise<Loaded> {
  const [loaded] = await loadAuthorizations(tx, [question]);
  if (loaded === undefined) throw new Error('an authorization has no document of its facts');
  if (!('facts' in loaded)) return loaded;
  const { facts } = loaded;
  if (facts.orphan !== null && facts.orphan.cardRef !== question.cardRef) {
    throw new DomainError('conflict', `the network collected for authorization ${question.id} from another card`);
  }
  const { orphan } = facts;
  const known = orphan?.isReversed === true ? { ...facts, reversals: await reversalsOf(tx, orphan.id) } : facts;
  return { facts: question.simulationId === undefined ? known : await simulated(tx, known, question.simulationId) };
}

/** The messages about an authorization that wait for it, in the order in which they came. */
export const waitingMessages = (tx: Tx, adapter: string, authorizationId: string): Promise<EarlyMessage[]> =>
  rowsOf(
    tx,
    columnRow(earlyColumns),
    `select id, kind, card_ref, body, request_id from network_messages
     where adapter = $1 and authorization_id = $2 and is_waiting order by received_at, id`,
    [adapter, authorizationId],
  );

/** The wish never changes, so it need not be of the same snapshot. An intent that it names is the only one there is. */
async function simulated(tx: Tx, facts: AuthorizationFacts, id: string): Promise<AuthorizationFacts> {
  const simulation = await simulationFactsOf(tx, { id, cardId: facts.card.id });
  if (simulation === null) return facts;
  const { intentId } = simulation;
  if (intentId === null) return { ...facts, simulation };
  return { ...facts, simulation, intents: facts.intents.filter((intent) => intent.id === intentId), confirmed: [] };
}

/** What the pure decision looks at. */
export function decisionFactsOf(
  facts: AuthorizationFacts,
  message: Pick<AuthorizationMessage, 'amountCents' | 'partialSupported'> & { readonly cardRef: string },
  request: RequestFacts,
  { at, risk }: { at: Date; risk: RiskFacts },
): DecisionFacts {
  const { card, agent, policy, counters } = facts;
  const { maxTransactionCents, dailyLimitCents, monthlyLimitCents } = card;
  const limits = { maxTransactionCents, dailyLimitCents, monthlyLimitCents };
  const { status, usage, isProvisioning, expiryMonth, expiryYear, controls } = card;
  const cardFacts = { status, usage, isProvisioning, expiryMonth, expiryYear, limits, controls };
  return {
    spending: { at, policy, agent, card: cardFacts, request, counters, phase: 'charge', risk },
    candidates: [
      ...facts.intents.map((intent) => candidateFor(facts, intent, at)),
      // Windows were open at the confirm. An authorization with earlier clearings already has its transaction.
      ...(facts.orphan === null ? facts.confirmed : []).map(({ id, intent }) => ({
        ...candidateOf(intent, [], at),
        closedBecause: undefined,
        transactionId: id,
      })),
    ],
    token: tokenFactsOf(facts),
    simulation: facts.simulation,
    availableCents: facts.availableCents,
    partialSupported: message.partialSupported,
    before: priorMessagesOf(facts, message.cardRef),
  };
}

/** The clearings and reversals of this card that came before their authorization. */
export function priorMessagesOf(
  { early, orphan, reversals }: Pick<AuthorizationFacts, 'early' | 'orphan' | 'reversals'>,
  cardRef: string,
): PriorMessages {
  if (orphan !== null) {
    const { clearedCents, isFinal } = orphan;
    return {
      collectedCents: cents(clearedCents),
      isFinal,
      reversals: reversals ?? noReversals,
      isBooked: true,
    };
  }
  const ofCard = early.filter((message) => message.cardRef === cardRef);
  const clearings = ofCard.filter(({ kind }) => kind === 'clearing').map(({ body }) => clearingMessage.parse(body));
  return {
    collectedCents: add(...clearings.map((clearing) => clearing.amountCents)),
    isFinal: clearings.some((clearing) => clearing.final),
    reversals: namedBy(ofCard.filter(({ kind }) => kind === 'reversal')),
    isBooked: false,
  };
}

function namedBy(waiting: readonly EarlyMessage[]): Reversals {
  const amounts = waiting.map(({ body }) => reversalMessage.parse(body).amountCents);
  return { cents: add(...amounts.map((amountCents) => amountCents ?? 0)), isWhole: amounts.includes(undefined) };
}

/** It pays for nothing, and nothing is written to its record. */
export const isTokenSpent = ({ token }: AuthorizationFacts): boolean =>
  token !== null && (token.isUsed || token.isRevoked || token.isExpired);

const tokenFactsOf = ({ token }: AuthorizationFacts): TokenFacts | null =>
  token === null
    ? null
    : {
        intentId: token.intentId,
        isUsed: token.isUsed,
        isExpired: token.isExpired,
        isRevoked: token.isRevoked,
        ceilingCents: token.ceilingCents,
        merchantId: token.recipient,
        isPayeeBound: token.kind === 'credential',
      };

/** The charge is of the payment that the intent is kept for. */
const isKeptFor = ({ token, paymentId }: AuthorizationFacts, { openPaymentId }: OpenIntent): boolean =>
  openPaymentId != null && (token?.paymentId ?? paymentId) === openPaymentId;

/** When the charge counts: that of an open payment as of when the payment was begun. */
export const chargedAt = (facts: AuthorizationFacts, intent: OpenIntent, at: Date): Date =>
  isKeptFor(facts, intent) ? (intent.openPaymentAt ?? at) : at;

function candidateFor(facts: AuthorizationFacts, intent: OpenIntent, at: Date): Candidate {
  const candidate = candidateOf(intent, intent.taken ?? [], chargedAt(facts, intent, at));
  if (isKeptFor(facts, intent)) return candidate;
  return { ...candidate, closedBecause: candidate.closedBecause ?? whyKeptForPayment(intent, at) };
}

const candidateOf = (intent: OpenIntent, taken: readonly TakenWindow[], at: Date): Candidate => ({
  ...matchableIntent(intent, taken, at),
  isAutoApproved: intent.isAutoApproved,
  attestedAt: intent.attestedAt ?? null,
  ...(intent.allowsOnceOf == null || intent.declinedCharge == null
    ? {}
    : { allows: { transactionId: intent.allowsOnceOf, merchant: intent.declinedCharge.merchant } }),
});
