/** The relying party of passkeys, from the public address of this deployment. Reads no environment. @module */
import { isIP } from 'node:net';
import { DomainError } from '../../../kernel/errors.ts';

export type RelyingParty = {
  /** Scheme, host and port that a ceremony must have run on. */
  readonly origin: string;
  /** The host: passkeys are bound to it for good. */
  readonly rpId: string;
};

export function relyingPartyOf(publicUrl: string): RelyingParty {
  const { origin, hostname } = new URL(publicUrl);
  return { origin, rpId: hostname };
}

/** WebAuthn knows names only. */
export function refuseNameless({ rpId, origin }: RelyingParty): void {
  if (isIP(rpId.replace(/^\[|\]$/g, '')) === 0) return;
  throw new DomainError(
    'invalid_state',
    `passkeys need a host name, and this deployment is reached at ${origin}; set BURSAR_PUBLIC_URL to an address with a name`,
  );
}
