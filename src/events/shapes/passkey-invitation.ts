/** The `data` of the events of an invitation to enrol a passkey; its person's name is not among them. @module */
import { code, id, instant, named } from '../fields.ts';

export const passkeyInvitationData = named('PasskeyInvitationEventData', {
  id: id('passkeyInvitation'),
  ownerId: id('owner'),
  status: code,
  createdAt: instant,
  expiresAt: instant,
});
