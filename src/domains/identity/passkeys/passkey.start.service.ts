/**
 * Starts the two ceremonies of an owner's passkeys: the challenge of an enrolment, and the challenge of an assertion.
 * Refuses where the answer to the challenge could have no effect.
 * @module
 */
import type { Tx } from '../../../db/tx.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cause } from '../../../platform/cause.ts';
import { type Challenge, findLiveChallenge, type Matter, makeChallenge } from './challenge.service.ts';
import { enrolledPasskeys, type Passkey } from './passkey.queries.ts';
import { refuseFurther } from './passkey.service.ts';
import { type RelyingParty, refuseNameless } from './relying-party.ts';

type Order<T> = T & { readonly challengeId: Id<'challenge'>; readonly ownerId: string };

export type StartedCeremony = { readonly challenge: Challenge; readonly enrolled: readonly Passkey[] };

export async function startEnrolment(
  tx: Tx,
  relyingParty: RelyingParty,
  { challengeId, ownerId, name }: Order<{ readonly name: string | undefined }>,
  cause: Cause,
): Promise<StartedCeremony> {
  refuseNameless(relyingParty);
  const enrolled = await enrolledPasskeys(tx, ownerId);
  refuseFurther(enrolled, cause.at);
  const matter = { ownerId, purpose: 'register', subjectId: null, name } as const;
  return { challenge: await makeChallenge(tx, challengeId, matter), enrolled };
}

export async function startAssertion(
  tx: Tx,
  relyingParty: RelyingParty,
  { challengeId, ...matter }: Order<Pick<Matter, 'purpose' | 'subjectId' | 'terms'>>,
): Promise<StartedCeremony> {
  refuseNameless(relyingParty);
  const enrolled = await enrolledPasskeys(tx, matter.ownerId);
  await refuseUnknownSubject(tx, matter, enrolled);
  if (enrolled.length === 0) {
    throw new DomainError('invalid_state', 'no passkey is enrolled; the first one needs no assertion');
  }
  return { challenge: await makeChallenge(tx, challengeId, matter), enrolled };
}

async function refuseUnknownSubject(
  tx: Tx,
  { ownerId, purpose, subjectId }: Matter,
  enrolled: readonly Passkey[],
): Promise<void> {
  const subject = subjectId ?? '';
  if (purpose === 'revoke_passkey' && !enrolled.some(({ id }) => id === subject)) throw notFound('passkey', subject);
  if (purpose !== 'enroll') return;
  const registration = await findLiveChallenge(tx, subject, ownerId);
  if (registration?.purpose !== 'register') throw notFound('open registration', subject);
}
