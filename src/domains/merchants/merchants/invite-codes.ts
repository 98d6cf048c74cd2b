/**
 * Which invite codes the deployment has. Live: those of BURSAR_MERCHANT_INVITE_CODES. A sandbox without the variable
 * admits every code, because nothing there is worth an invitation. Wrong codes are limited by client address. Whether a
 * code was used is decided in the transaction that registers.
 * @module
 */
import { createFailureLimit } from '../../../http/failure-limit.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Mode } from '../../../platform/mode.ts';
import { sameSecret } from '../../../vault/secret-hash.ts';

/** Throws `invalid_request` for a code that the deployment does not have, and `rate_limited` after too many of them. */
export type AssertInvited = (code: string, client: string) => void;

export function createInviteCodes(
  { codes, mode }: { readonly codes: readonly string[]; readonly mode: Mode },
  realNow: () => number = Date.now,
): AssertInvited {
  const countFailure = createFailureLimit('wrong invite codes', realNow);
  return (code, client) => {
    if (mode === 'sandbox' && codes.length === 0) return;
    // Every code is compared, so that the time taken does not tell which one came close.
    if (codes.filter((one) => sameSecret(one, code)).length > 0) return;
    countFailure(client);
    throw new DomainError('invalid_request', 'body.inviteCode: is not an invite code of this deployment');
  };
}
