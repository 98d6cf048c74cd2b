/**
 * What an invitation to enrol a passkey is still good for, and when it needs another one. Pure: real time, the row and
 * the enrolled passkeys are arguments.
 * @module
 */
export const invitationStatuses = ['open', 'enrolled', 'revoked', 'expired'] as const;
export type InvitationStatus = (typeof invitationStatuses)[number];

export const longestInvitationHours = 72;
export const defaultInvitationHours = 24;

export type InvitationState = {
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
  readonly passkeyId: string | null;
  readonly vouchedBy: string | null;
};

export function invitationStatus(
  { expiresAt, revokedAt, passkeyId }: Omit<InvitationState, 'vouchedBy'>,
  realNow: Date,
): InvitationStatus {
  if (passkeyId !== null) return 'enrolled';
  if (revokedAt !== null) return 'revoked';
  return expiresAt.getTime() <= realNow.getTime() ? 'expired' : 'open';
}

/**
 * Why no passkey can be enrolled with it, in words for the invited person; undefined when one can. Where passkeys are
 * enrolled, one of them must have confirmed the invitation: a stolen API key alone must not add another one.
 */
export function whyNotEnrol(
  invitation: InvitationState,
  enrolled: readonly { readonly id: string }[],
  realNow: Date,
): string | undefined {
  const status = invitationStatus(invitation, realNow);
  if (status !== 'open') return ended[status](invitation);
  if (enrolled.length === 0 || enrolled.some(({ id }) => id === invitation.vouchedBy)) return undefined;
  return 'no passkey that is enrolled now has confirmed this invitation; ask for a new one';
}

const ended: Readonly<Record<Exclude<InvitationStatus, 'open'>, (of: InvitationState) => string>> = {
  enrolled: () => 'a passkey was enrolled with this invitation, and each is good for one; ask for a new one',
  revoked: () => 'this invitation was revoked; ask for a new one',
  expired: ({ expiresAt }) => `this invitation expired at ${expiresAt.toISOString()}; ask for a new one`,
};

/** Undefined when it can be revoked, or was before. A used one is not revoked: its passkey is removed. */
export const whyNotRevoke = (id: string, passkeyId: string | null): string | undefined =>
  passkeyId === null
    ? undefined
    : `passkey ${passkeyId} was enrolled with invitation ${id}; remove the passkey instead`;
