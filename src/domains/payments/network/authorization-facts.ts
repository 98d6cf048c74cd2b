/**
 * All facts of a decision on an authorization, read in one round trip and one snapshot, without locks. Shapes only;
 * authorization.rules.ts evaluates them.
 * @module
 */
import { oneRow, type Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { add, type Cents, cents } from '../../../kernel/money.ts';
import { type IntentRow, matchableIntent, type TakenWindow } from '../../spending/intents/index.ts';
import type {
  CounterFacts,
  HolderStatus,
  Policy,
  RequestFacts,
  RiskFacts,
} from '../../spending/policies/policy.rules.ts';
import type { CheckoutStatus } from '../checkout/checkout.rules.ts';
import { type SimulationFacts, simulationFactsOf } from '../simulations/simulation.queries.ts';
import type { TransactionFields } from '../transactions/transaction.entity.ts';
import type { Candidate, DecisionFacts, PriorMessages, TokenFacts } from './authorization.rules.ts';
import { type AuthorizationAnswer, type AuthorizationMessage, clearingMessage } from './network.contract.ts';

export type Known = { readonly requestHash: string; readonly answer: AuthorizationAnswer };
export type EarlyMessage = {
  readonly id: string;
  readonly kind: 'clearing' | 'reversal';
  /** Another card than the authorization's: the message is not booked. */
  readonly cardRef: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Of the request that carried it; null for what waited while an older version ran. */
  readonly requestId: string | null;
};

export type CardRecord = {
  readonly id: string;
  readonly ownerId: string;
  readonly agentId: string;
  readonly status: HolderStatus;
  readonly usage: 'single' | 'multi';
  readonly isProvisioning: boolean;
  readonly maxTransactionCents: Cents | null;
  readonly dailyLimitCents: Cents | null;
  readonly monthlyLimitCents: Cents | null;
  readonly version: number;
};
export type AgentRecord = {
  readonly id: string;
  readonly ownerId: string;
  readonly status: HolderStatus;
  readonly walletId: string;
  readonly version: number;
};
/** An intent as the decision sees it; the ORM is not around it. */
export type IntentFields = { [K in keyof IntentRow as K extends string ? K : never]: IntentRow[K] } & {
  /** Of a recurring one: the rows of windows that the instant of the question lies in. */
  readonly taken?: readonly TakenWindow[] | null;
};
/** A transaction that a confirm wrote before any authorization came, with its intent. */
export type ConfirmedTransaction = TransactionFields & { readonly intent: IntentFields };

/** A transaction booked from clearings whose authorization had not come. */
export type OrphanTransaction = TransactionFields & { readonly cardRef: string; readonly isReversed: boolean };

export type AuthorizationFacts = {
  readonly early: readonly EarlyMessage[];
  readonly orphan: OrphanTransaction | null;
  readonly card: CardRecord;
  readonly agent: AgentRecord;
  readonly policy: Policy | null;
  /** By the payment token; account checks carry none. */
  readonly checkout: {
    readonly id: string;
    readonly intentId: string;
    readonly status: CheckoutStatus;
    readonly ceilingCents: Cents | null;
    readonly requestId: string;
    readonly runId: string | null;
  } | null;
  readonly intents: readonly IntentFields[];
  readonly confirmed: readonly ConfirmedTransaction[];
  /** Without this very payment, where a part of it was collected before. */
  readonly counters: CounterFacts;
  /** `wallet:wal_…` or `agent:ag_…`. */
  readonly fundingSource: string;
  readonly availableCents: Cents;
  readonly revision: number;
  /** Of a charge that Bursar asked the simulated network for. */
  readonly simulation?: SimulationFacts | undefined;
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

export async function loadAuthorizationFacts(
  tx: Tx,
  { adapter, id, cardRef, tokenHash, simulationId, at }: Question,
): Promise<Loaded> {
  const { facts } = await oneRow<{ facts: Record<string, unknown> }>(
    tx,
    'select load_authorization_facts($1, $2, $3, $4, $5) as facts',
    [adapter, id, cardRef, tokenHash, at],
  );
  const loaded = fromJson(facts) as AuthorizationFacts & { known?: Known; card: CardRecord | null };
  if (loaded.known !== undefined) return { known: (facts as { known: Known }).known };
  if (loaded.card === null) return { unknownCard: true, early: loaded.early };
  if (loaded.orphan !== null && loaded.orphan.cardRef !== cardRef) {
    throw new DomainError('conflict', `the network collected for authorization ${id} from another card`);
  }
  return { facts: simulationId === undefined ? loaded : await simulated(tx, loaded, simulationId) };
}

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
  const cardFacts = { status: card.status, usage: card.usage, isProvisioning: card.isProvisioning, limits };
  return {
    spending: { at, policy, agent, card: cardFacts, request, counters, phase: 'charge', risk },
    candidates: [
      ...facts.intents.map((intent) => candidateOf(intent, at)),
      // Windows were open at the confirm. An authorization with earlier clearings already has its transaction.
      ...(facts.orphan === null ? facts.confirmed : []).map(({ id, intent }) => ({
        ...candidateOf(intent, at),
        closedBecause: undefined,
        transactionId: id,
      })),
    ],
    token: tokenFactsOf(facts),
    simulation: facts.simulation,
    availableCents: facts.availableCents,
    partialSupported: message.partialSupported,
    before: priorMessagesOf(facts, message),
  };
}

type AuthorizationRequest = { readonly amountCents: number; readonly cardRef: string };

/** The clearings and reversals of this card that came before their authorization. */
export function priorMessagesOf(
  { early, orphan }: AuthorizationFacts,
  { amountCents, cardRef }: AuthorizationRequest,
): PriorMessages {
  if (orphan !== null) {
    const { isReversed, clearedCents, isFinal } = orphan;
    return { isReversed, collectedCents: cents(clearedCents), isFinal, isBooked: true };
  }
  const ofCard = early.filter((message) => message.cardRef === cardRef);
  const clearings = ofCard.filter(({ kind }) => kind === 'clearing').map(({ body }) => clearingMessage.parse(body));
  return {
    isReversed: ofCard.some(({ kind, body }) => kind === 'reversal' && takesAll(body, amountCents)),
    collectedCents: add(...clearings.map((clearing) => clearing.amountCents)),
    isFinal: clearings.some((clearing) => clearing.final),
    isBooked: false,
  };
}

const takesAll = ({ amountCents }: EarlyMessage['body'], requestedCents: number): boolean =>
  typeof amountCents !== 'number' || amountCents >= requestedCents;

/** Declined is used as well: a token is good for one authorization, however that ended. */
export const isTokenUsed = ({ checkout }: AuthorizationFacts): boolean =>
  checkout?.status === 'paid' || checkout?.status === 'declined';

const tokenFactsOf = (facts: AuthorizationFacts): TokenFacts | null =>
  facts.checkout === null
    ? null
    : {
        intentId: facts.checkout.intentId,
        isUsed: isTokenUsed(facts),
        ceilingCents: facts.checkout.ceilingCents,
      };

const candidateOf = (intent: IntentFields, at: Date): Candidate => ({
  ...matchableIntent(intent, intent.taken ?? [], at),
  isAutoApproved: intent.isAutoApproved,
  attestedAt: intent.attestedAt ?? null,
});

/** Column names become ours and instants become dates; bodies of messages are left as they are. */
function fromJson(value: unknown, key = ''): unknown {
  if (key === 'body' || key === 'metadata') return value;
  if (Array.isArray(value)) return value.map((part) => fromJson(part));
  if (typeof value === 'string') return /(At|Until)$/.test(key) ? new Date(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([column, part]) => {
      const name = column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return [name, fromJson(part, name)];
    }),
  );
}
