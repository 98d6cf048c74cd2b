/** Invitations to enrol a passkey, made over the API. @module */
import { passkeyInvitationsArea } from '../../../src/domains/identity/passkey-invitations/invitation.contract.ts';
import { passkeysArea } from '../../../src/domains/identity/passkeys/passkey.contract.ts';
import type { SoftPasskey } from '../authenticator.ts';
import type { Owner } from '../world.ts';

type Wanted = {
  readonly name?: string;
  readonly expiresInHours?: number;
  /** The passkey that confirms it; needed as soon as one is enrolled. */
  readonly by?: SoftPasskey;
};

async function prepared(owner: Owner, { name = 'Anna Berg', by }: Wanted) {
  if (by === undefined) return { confirmed: {} };
  const challenge = await owner.client(passkeysArea).createPasskeyChallenge({ body: { purpose: 'invite', name } });
  return { confirmed: { webauthnAssertion: by.answer(challenge) } };
}

async function make(owner: Owner, wanted: Wanted = {}) {
  const { name = 'Anna Berg', expiresInHours } = wanted;
  const { confirmed } = await prepared(owner, wanted);
  const hours = expiresInHours === undefined ? {} : { expiresInHours };
  const made = await owner
    .client(passkeyInvitationsArea)
    .createPasskeyInvitation({ body: { name, ...hours, ...confirmed } });
  return { ...made, token: made.enrolUrl.split('/').at(-1) ?? '' };
}

export const anInvitation = Object.assign(make, { prepared });
