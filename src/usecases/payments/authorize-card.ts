/**
 * Decides whether a card may pay. Loads the facts without locks, decides by the pure rule, and writes everything in one
 * statement that refuses when a fact has changed; those that come together do so in one batch. What its batch left is
 * decided again under locks, so that contention costs time and never causes a decline.
 * @module
 */
import * as z from 'zod';
import type { Database } from '../../db/database.ts';
import { inLanes } from '../../db/lanes.ts';
import { oneRowOf, runSql } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import { type Known, knownAnswer, loadAuthorizationFacts } from '../../domains/payments/network/authorization-facts.ts';
import type { AuthorizationAnswer } from '../../domains/payments/network/network.contract.ts';
import { keepUnknownCard, missingAuthorization } from '../../domains/payments/network/network-message.service.ts';
import { bookCollected } from '../../domains/payments/transactions/booking.others.service.ts';
import { lockForEarly } from '../../domains/payments/transactions/booking.posting.service.ts';
import { lockDecision, lockPayment } from '../../domains/payments/transactions/payment-lock.service.ts';
import { DomainError, unavailable } from '../../kernel/errors.ts';
import { second } from '../../kernel/instant.ts';
import type { Logger } from '../../platform/log.ts';
import { bookEarlyMessages } from './book-early-messages.ts';
import {
  type Authorization,
  answerAgain,
  answerOf,
  type Decided,
  type DecidingDeps,
  decided,
  factsAsked,
  type Overrule,
  riskOf,
} from './decide-authorization.ts';
import { alone, decideBatch } from './decide-batch.ts';
import { orUnavailable, writeWithin } from './within-lock-wait.ts';

export type AuthorizeCardDeps = DecidingDeps & {
  readonly database: Database;
  readonly log: Pick<Logger, 'error'>;
};

const underLock = 4;

/**
 * `mostWaitMs`: from the arrival to the begin, and once more for the locks of what is decided alone. A network decides
 * alone what is not answered in about two seconds.
 */
export const authorizeCard = ({ mostWaitMs = second, ...deps }: AuthorizeCardDeps & { mostWaitMs?: number }) => {
  const refused = (why: string) => () => new DomainError('unavailable', why, { retryAfterSeconds: 1 });
  const tooMany = refused(queueIsFull);
  const decideInBatch = inLanes((batch: readonly Authorization[]) => decideBatch(deps, batch), {
    withinMs: mostWaitMs,
    tooLate: refused(tooLateAfter(mostWaitMs)),
    tooMany,
    keyOf: ({ adapter, message }) => `${adapter}/${message.id}`,
    groupOf: ({ adapter, message }) => `card/${adapter}/${message.cardRef}`,
  });
  const authorize = async (received: Authorization): Promise<AuthorizationAnswer> => {
    const { answer, ask } = await decide(deps, mostWaitMs, decideInBatch, received);
    // Apart from the decision, which is kept already and must be answered in time: should it get lost, a repeat of the message
    // asks, or the merchant's next try.
    if (ask !== undefined) {
      await writeWithin(deps.database, mostWaitMs, ask)().catch((error: unknown) => {
        deps.log.error(
          { err: error, transactionId: answer.transactionId },
          'a person could not be asked about a charge',
        );
      });
    }
    return answer;
  };
  /** Throws while as many wait as may. */
  const admit = (): void => {
    if (decideInBatch.isFull()) throw tooMany();
  };
  return Object.assign(authorize, { admit });
};

const again = 'nothing is held, and the network may send it again';
const queueIsFull = `more authorizations wait than can be begun in time, so this one was not taken; ${again}`;
const tooLateAfter = (ms: number): string => `this authorization could not be begun within ${ms} ms; ${again}`;
const lockedAfter = (ms: number): string => `another change held what this authorization needs for ${ms} ms; ${again}`;

async function decide(
  deps: AuthorizeCardDeps,
  mostWaitMs: number,
  decideInBatch: (received: Authorization) => Promise<Decided | typeof alone>,
  received: Authorization,
): Promise<Decided> {
  const { token, simulation } = received.message;
  const isPlain = token === undefined && simulation === undefined;
  const first = isPlain ? await decideInBatch(received) : undefined;
  if (first !== undefined && first !== alone) return first;
  return orUnavailable(lockedAfter(mostWaitMs), decideAlone(deps, mostWaitMs, received, isPlain));
}

async function decideAlone(
  deps: AuthorizeCardDeps,
  mostWaitMs: number,
  received: Authorization,
  wasInBatch: boolean,
): Promise<Decided> {
  const first = wasInBatch ? undefined : await attempt(deps.database.read(), deps, received, { mostWaitMs });
  if (first !== undefined) return first;
  return untilNotStale(writeWithin(deps.database, mostWaitMs, (tx) => lockedAttempt(tx, deps, received)));
}

/** A transaction that decides under locks, begun again while its facts change; 503 where it waits too long for a lock. */
export const decideUnderLocks = <T>(
  database: Database,
  mostWaitMs: number,
  work: (tx: Tx) => Promise<T | undefined>,
): Promise<T> => orUnavailable(lockedAfter(mostWaitMs), untilNotStale(writeWithin(database, mostWaitMs, work)));

/** Repeats a transaction that decides under locks, a few times. */
async function untilNotStale<T>(work: () => Promise<T | undefined>): Promise<T> {
  for (let turn = 0; turn < underLock; turn++) {
    const done = await work().catch(undefinedIfStale);
    if (done !== undefined) return done;
  }
  throw unavailable('the facts of this authorization keep changing');
}

/** In the caller's transaction, which no ledger account is locked in yet. Asks no person. */
export async function authorizeUnderLock(
  tx: Tx,
  deps: AuthorizeCardDeps,
  received: Authorization,
  overrule: Overrule,
): Promise<AuthorizationAnswer> {
  const found = await lockedAttempt(tx, deps, received, overrule);
  if (found === undefined) throw unavailable('the facts of this authorization keep changing');
  return found.answer;
}

/** Everything that may change the facts waits for this transaction; it takes its locks in the common order. */
async function lockedAttempt(tx: Tx, deps: AuthorizeCardDeps, received: Authorization, overrule?: Overrule) {
  const { adapter, message, cause } = received;
  await runSql(tx, 'select lock_authorization($1, $2)', [adapter, message.id]);
  const loaded = await load(tx, received);
  if ('facts' in loaded) {
    const { agent, card, orphan, early } = loaded.facts;
    const fundingSource = await lockDecision(tx, { agentId: agent.id, cardId: card.id }, cause.at);
    const payment = { ownerId: card.ownerId, agentId: agent.id, fundingSource: orphan?.fundingSource ?? fundingSource };
    await lockForEarly(tx, payment, early, cause);
  }
  return attempt(tx, deps, received, 'locked', overrule);
}

/** In the transaction that holds the locks, or by one statement that waits so long for each of its own. */
type Locks = 'locked' | { readonly mostWaitMs: number };

/** Undefined: the facts are stale, or need a transaction. Inside one, staleness is thrown, because it is spoilt. */
async function attempt(
  tx: Tx,
  deps: AuthorizeCardDeps,
  received: Authorization,
  locks: Locks,
  overrule: Overrule = (decision) => decision,
): Promise<Decided | undefined> {
  const { message, cause } = received;
  const loaded = await load(tx, received);
  if ('known' in loaded) return answerAgain(deps, received, loaded.known);
  if ('unknownCard' in loaded)
    return locks === 'locked' ? { answer: await declineUnknownCard(tx, received) } : undefined;
  const { facts } = loaded;
  if ((facts.early.length > 0 || facts.orphan !== null) && locks !== 'locked') return undefined;
  const toWrite = decided(received, facts, await riskOf(tx, deps, received, facts), overrule);
  const { transactionId, payload, cause: caused } = toWrite.writing;
  const known = await apply(tx, payload, locks);
  if (known === 'stale') return undefined;
  if (known !== null) {
    return known.requestHash === missingAuthorization ? undefined : answerAgain(deps, received, known);
  }
  const { adapter } = received;
  const booking = { adapter, cause, cardRef: message.cardRef, early: facts.early, transactionId };
  await bookEarlyMessages(tx, booking);
  if (facts.orphan !== null) await bookCollected(tx, await lockPayment(tx, transactionId), caused);
  return answerOf(deps, received, facts, toWrite);
}

const load = (tx: Tx, received: Authorization) => loadAuthorizationFacts(tx, factsAsked(received));

const appliedRow = z.object({ applied: z.object({ known: knownAnswer.nullable() }) });

const applying = 'select apply_authorization($1::jsonb) as applied';
/** Outside a transaction the setting is that of this statement alone. */
const applyingWithin = `with timeout as materialized (select set_config('lock_timeout', $2, true)) ${applying} from timeout`;

async function apply(tx: Tx, payload: object, locks: Locks): Promise<Known | null | 'stale'> {
  const document = JSON.stringify(payload);
  try {
    const { applied } = await (locks === 'locked'
      ? oneRowOf(tx, appliedRow, applying, [document])
      : oneRowOf(tx, appliedRow, applyingWithin, [document, `${locks.mostWaitMs}ms`]));
    return applied.known;
  } catch (error) {
    if (locks === 'locked' || !isStale(error)) throw error;
    return 'stale';
  }
}

/** BP001: a version moved; BL001: the money went meanwhile; 40001 and 40P01: PostgreSQL asks to begin again. */
const staleCodes: readonly unknown[] = ['BP001', 'BL001', '40001', '40P01'];
const isStale = (error: unknown): boolean => staleCodes.includes((error as { code?: unknown } | null)?.code);

function undefinedIfStale(error: unknown): undefined {
  if (!isStale(error)) throw error;
}

/** There is no owner to notify; only the network's message is known. */
async function declineUnknownCard(tx: Tx, { message, ...received }: Authorization): Promise<AuthorizationAnswer> {
  const answer: AuthorizationAnswer = {
    decision: 'declined',
    approvedCents: 0,
    transactionId: null,
    rule: 'unknown_card',
    reason: 'the card is not known here',
  };
  const booking = { ...received, message: { ...message, authorizationId: message.id } };
  await keepUnknownCard(tx, booking, answer);
  return answer;
}
