/** The shapes of passkeys and challenges for callers. Shapes only. @module */
import type { PasskeyChallenge } from '../../../http/webauthn.ts';
import type { Challenge, Matter } from './challenge.service.ts';
import { creationOptions, requestOptions } from './passkey.ceremony.ts';
import type { ChallengeBody, PasskeyWire } from './passkey.contract.ts';
import type { Passkey } from './passkey.queries.ts';
import { type RelyingParty, refuseNameless } from './relying-party.ts';

export const passkeyWire = (passkey: Passkey): PasskeyWire => ({
  id: passkey.id,
  name: passkey.name,
  credentialId: passkey.credentialId,
  transports: [...passkey.transports],
  backedUp: passkey.backedUp,
  createdAt: passkey.createdAt.toISOString(),
  lastUsedAt: passkey.lastUsedAt?.toISOString() ?? null,
  approvesFrom: passkey.approvesFrom.toISOString(),
});

/** For `navigator.credentials.get`. */
export async function requestChallenge(
  relyingParty: RelyingParty,
  { id, challenge, expiresAt }: Challenge,
  enrolled: readonly Passkey[],
): Promise<PasskeyChallenge> {
  refuseNameless(relyingParty);
  const options = await requestOptions(relyingParty, challenge, enrolled);
  return { challengeId: id, options: { ...options }, expiresAt: expiresAt.toISOString() };
}

/** For `navigator.credentials.create`. */
export async function creationChallenge(
  relyingParty: RelyingParty,
  { id, challenge, expiresAt, name }: Challenge,
  { ownerId, enrolled }: { readonly ownerId: string; readonly enrolled: readonly Passkey[] },
): Promise<PasskeyChallenge> {
  refuseNameless(relyingParty);
  const options = await creationOptions(relyingParty, challenge, { ownerId, enrolled, name: name ?? unnamed });
  return { challengeId: id, options: { ...options }, expiresAt: expiresAt.toISOString() };
}

/** What the answer to a challenge is good for. */
export const subjectOf = (body: ChallengeBody): Pick<Matter, 'purpose' | 'subjectId' | 'terms'> =>
  body.purpose === 'invite'
    ? { purpose: body.purpose, subjectId: null, terms: body.name }
    : { purpose: body.purpose, subjectId: body.subjectId ?? null };

export const unnamed = 'Passkey';
