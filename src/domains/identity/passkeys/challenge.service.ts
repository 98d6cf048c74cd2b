/**
 * Challenges of WebAuthn ceremonies: 32 random bytes for one owner, one purpose and one subject, valid for five minutes
 * of real time, used once. The use and its effect are one transaction; a refusal rolls back all but the use.
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import * as z from 'zod';
import { centsValue, idValue } from '../../../db/row-values.ts';
import { inSavepoint } from '../../../db/savepoint.ts';
import { firstRowOf, oneRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { addressGroupOf } from '../../../http/client-address.ts';
import { retentionHours } from '../../../http/idempotency.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { hour } from '../../../kernel/instant.ts';
import type { Cents } from '../../../kernel/money.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { type ChallengePurpose, challengeMs, challengePurposes } from './passkey.rules.ts';

/** What a challenge stands for; an answer to it is good for exactly this. */
export type Matter = {
  readonly ownerId: string;
  readonly purpose: ChallengePurpose;
  readonly subjectId: string | null;
  /** Of an intent: the figures that the person is shown. */
  readonly amountCents?: Cents;
  readonly maxChargeCents?: Cents;
  readonly merchant?: string | null;
  /** Of any other approval: the figures that the person is shown, in one text. Of an invitation: the person's name; of a device: a digest. */
  readonly terms?: string;
};

const challengeRow = z.object({
  id: idValue('challenge'),
  purpose: z.enum(challengePurposes),
  subjectId: z.string().nullable(),
  amountCents: centsValue.nullable(),
  maxChargeCents: centsValue.nullable(),
  merchant: z.string().nullable(),
  terms: z.string().nullable(),
  name: z.string().nullable(),
  challenge: z.string(),
  expiresAt: z.date(),
  usedCause: z.string().nullable(),
  usedBy: idValue('passkey').nullable(),
});
export type Challenge = Readonly<z.output<typeof challengeRow>>;

const columns = `id, purpose, subject_id as "subjectId", amount_cents as "amountCents", max_charge_cents as "maxChargeCents", merchant, terms, name, challenge,
  expires_at as "expiresAt", used_cause as "usedCause", used_by as "usedBy"`;

/** Who asked for a challenge that goes to a browser: an approver's link, or a credential of the owner. */
export type AskedBy = {
  readonly kind: 'link' | 'credential';
  /** Of the client; undefined where it is not known. */
  readonly address: string | undefined;
};

type Wanted = Matter & {
  readonly name?: string | undefined;
  /** Given where a new challenge takes the place of an old one instead of being refused. */
  readonly askedBy?: AskedBy;
};

/** A repeated request finds the challenge that it made. */
export async function makeChallenge(
  tx: Tx,
  id: Id<'challenge'>,
  { ownerId, purpose, subjectId, amountCents, maxChargeCents, merchant, terms, name, askedBy }: Wanted,
): Promise<Challenge> {
  await sweep(tx, ownerId);
  const known = await firstRowOf(tx, challengeRow, `select ${columns} from passkey_challenges where id = $1`, [id]);
  if (known !== undefined) return known;
  const subject = `${purpose}/${subjectId ?? ''}`;
  const from = askedBy === undefined ? null : fromOf(subject, askedBy);
  if (askedBy !== undefined) await makeRoom(tx, { ownerId, purpose, subjectId, subject, from }, askedBy);
  await assertBelowLimit(tx, 'challenges', { ownerId, subject, at: new Date() }, { isLocked: askedBy !== undefined });
  await runSql(
    tx,
    `insert into passkey_challenges (id, owner_id, purpose, subject_id, amount_cents, max_charge_cents, merchant, name,
       challenge, expires_at, asked_by, asked_from, terms)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + $10 * interval '1 ms', $11, $12, $13) on conflict (id) do nothing`,
    [
      id,
      ownerId,
      purpose,
      subjectId,
      amountCents ?? null,
      maxChargeCents ?? null,
      merchant ?? null,
      name ?? null,
      randomBytes(32).toString('base64url'),
      challengeMs,
      askedBy?.kind ?? null,
      from,
      terms ?? null,
    ],
  );
  return oneRowOf(tx, challengeRow, `select ${columns} from passkey_challenges where id = $1`, [id]);
}

/** How many of the five open challenges of an intent each kind of caller may have. */
const shares: Readonly<Record<AskedBy['kind'], number>> = { link: 3, credential: 2 };

type Place = Pick<Matter, 'ownerId' | 'purpose' | 'subjectId'> & {
  readonly subject: string;
  readonly from: string | null;
};

/**
 * Where a kind of caller has its share, the oldest challenge of the same client is replaced, otherwise the oldest: a
 * client that asks again
 * and again takes places from itself, and never those of the other kind.
 */
async function makeRoom(
  tx: Tx,
  { ownerId, purpose, subjectId, subject, from }: Place,
  { kind }: AskedBy,
): Promise<void> {
  await runSql(tx, `select lock_limit('challenges', $1, $2)`, [ownerId, subject]);
  // A separate statement: it sees rows that were committed while the lock was awaited.
  await runSql(
    tx,
    `with open as (
       select id, row_number() over (order by coalesce(asked_from = $5, false), expires_at desc, id desc) as place
       from passkey_challenges where owner_id = $1 and purpose = $2 and subject_id is not distinct from $3
         and asked_by = $4 and used_at is null and expires_at > clock_timestamp())
     delete from passkey_challenges where used_at is null and id in (select id from open where place >= $6)`,
    [ownerId, purpose, subjectId, kind, from, shares[kind]],
  );
}

/** Tells clients apart for one subject only, and is no address. */
const fromOf = (subject: string, { address }: AskedBy): string | null =>
  address === undefined
    ? null
    : createHash('sha256')
        .update(`${subject}\n${addressGroupOf(address)}`)
        .digest('base64url')
        .slice(0, 16);

/** A used one stays as long as its request may be repeated, and an hour more. */
const usedStaysMs = (retentionHours + 1) * hour;

/** A holder of an approver's link can request challenges, so unused challenges are deleted soon after they expire. */
const sweep = (tx: Tx, ownerId: string): Promise<unknown> =>
  runSql(
    tx,
    `delete from passkey_challenges where id in (
       select id from passkey_challenges where owner_id = $1 and expires_at < now() - $2 * interval '1 ms'
         and (used_at is null or expires_at < now() - $3 * interval '1 ms') for update skip locked)`,
    [ownerId, 2 * challengeMs, usedStaysMs],
  );

/** Undefined for an unknown one, and for one that is used or past its time. */
export async function findLiveChallenge(tx: Tx, id: string, ownerId: string): Promise<Challenge | undefined> {
  const found = await firstRowOf(
    tx,
    challengeRow,
    `select ${columns} from passkey_challenges
     where id = $1 and owner_id = $2 and used_at is null and expires_at > clock_timestamp()`,
    [id, ownerId],
  );
  return found;
}

export type Used = Challenge & {
  /** This very request used it before, and died before it could answer: `usedBy` is the passkey that held. */
  readonly isRepeat: boolean;
};

/** Uses the challenge for this cause, or refuses. Afterwards no other cause can use it. */
export async function useChallenge(tx: Tx, id: string, matter: Matter, cause: Cause): Promise<Used> {
  const found = await firstRowOf(
    tx,
    challengeRow.extend({ isPast: z.boolean() }),
    `select ${columns}, expires_at <= clock_timestamp() as "isPast" from passkey_challenges
     where id = $1 and owner_id = $2 for update`,
    [id, matter.ownerId],
  );
  if (found === undefined) throw refused(`no challenge ${id}; ask for one first`);
  const why = whyAnother(found, matter);
  if (why !== undefined) throw refused(`challenge ${id} ${why}`);
  if (found.usedCause !== null) {
    if (found.usedCause === cause.causeId && found.usedBy !== null) return { ...found, isRepeat: true };
    throw refused(`challenge ${id} was used before; each is good for one answer, so ask for a new one`);
  }
  if (found.isPast) throw refused(`challenge ${id} expired at ${found.expiresAt.toISOString()}; ask for a new one`);
  await runSql(tx, 'update passkey_challenges set used_at = clock_timestamp(), used_cause = $2 where id = $1', [
    id,
    cause.causeId,
  ]);
  return { ...found, isRepeat: false };
}

/** The answer held. */
export async function noteHolder(tx: Tx, id: Id<'challenge'>, passkeyId: Id<'passkey'>): Promise<void> {
  await runSql(tx, 'update passkey_challenges set used_by = $2 where id = $1', [id, passkeyId]);
}

function whyAnother(
  found: Challenge,
  { purpose, subjectId, amountCents, maxChargeCents, merchant, terms }: Matter,
): string | undefined {
  if (found.purpose !== purpose) return `was made for the purpose ${found.purpose}, not for ${purpose}`;
  if (found.subjectId !== subjectId) return `was made for ${found.subjectId ?? 'nothing'}, not for ${subjectId}`;
  const isOfThese = found.amountCents === (amountCents ?? null) && found.maxChargeCents === (maxChargeCents ?? null);
  if (!isOfThese || found.merchant !== (merchant ?? null)) {
    return 'was made for another amount or merchant';
  }
  if (found.terms !== (terms ?? null)) return `was made for ${otherTerms[purpose] ?? 'other amounts'}`;
  return undefined;
}

const otherTerms: Partial<Record<ChallengePurpose, string>> = { invite: 'another name', push: 'another device' };

/** Work whose refusal leaves the challenges used that it was given. */
export type Effect = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/** What a ceremony leads to. A refusal is a value, because the transaction that used the challenge commits. */
export type CeremonyResult<T> = { readonly done: T } | { readonly refusal: DomainError };

/**
 * A ceremony in the caller's transaction. `work` uses challenges up and then does the rest inside `effect`: a refusal
 * before that is thrown and leaves them as they were, one after it leaves them used and everything else undone.
 */
export async function ceremony<T>(tx: Tx, work: (effect: Effect) => Promise<T>): Promise<CeremonyResult<T>> {
  const seen: DomainError[] = [];
  const effect: Effect = async (inner) => {
    try {
      return await inSavepoint(tx, inner);
    } catch (error) {
      if (error instanceof DomainError) seen.push(error);
      throw error;
    }
  };
  try {
    return { done: await work(effect) };
  } catch (error) {
    const refusal = seen.find((one) => one === error);
    if (refusal === undefined) throw error;
    return { refusal };
  }
}

/** For the caller, once its transaction has committed. */
export function resultOf<T>(result: CeremonyResult<T>): T {
  if ('refusal' in result) throw result.refusal;
  return result.done;
}

const refused = (why: string): DomainError => new DomainError('invalid_request', why, { isFailedVerification: true });
