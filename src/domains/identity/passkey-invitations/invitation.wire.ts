/** The shapes of an invitation for its owner. Shapes only. @module */
import type { InvitationWire } from './invitation.contract.ts';
import type { ListedInvitation } from './invitation.queries.ts';
import { invitationStatus } from './invitation.rules.ts';

export const invitationWire = (
  row: Omit<ListedInvitation, 'ownerId' | 'vouchedBy'>,
  realNow: Date,
): InvitationWire => ({
  id: row.id,
  name: row.name,
  status: invitationStatus(row, realNow),
  passkeyId: row.passkeyId,
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
});

export const enrolUrlOf = (publicUrl: string, token: string): string =>
  `${publicUrl.replace(/\/$/, '')}/enrol/${token}`;
