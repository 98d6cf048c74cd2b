/** Answers the operations of invitations and of their links: ask the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Tx } from '../../../db/tx.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import { mapPage } from '../../../kernel/page.ts';
import { resultOf } from '../passkeys/challenge.service.ts';
import { enrolledPasskeys, findPasskey, type KnownPasskey } from '../passkeys/passkey.queries.ts';
import { creationChallenge } from '../passkeys/passkey.wire.ts';
import type { RelyingParty } from '../passkeys/relying-party.ts';
import type { EnrolmentWire, passkeyInvitationsArea } from './invitation.contract.ts';
import { type Invitation, invitationBehind, listInvitations } from './invitation.queries.ts';
import { invitationStatus, whyNotEnrol } from './invitation.rules.ts';
import { createInvitation, enrolInvited, revokeInvitation, startInvited } from './invitation.service.ts';
import { enrolUrlOf, invitationWire } from './invitation.wire.ts';

export type InvitationDeps = {
  readonly database: Database;
  readonly relyingParty: RelyingParty;
  readonly publicUrl: string;
  /** As people know the owner; null where no business is named. */
  readonly businessNameOf: (tx: Tx, ownerId: string) => Promise<string | null>;
};

export const invitationHandlers = (deps: InvitationDeps): Handlers<typeof passkeyInvitationsArea> => {
  const { database, relyingParty } = deps;
  const behind = (token: string): Promise<Invitation> => invitationBehind(database.read(), token);
  return {
    createPasskeyInvitation: async ({ body, own: { ownerId } }, call) => {
      const { name, expiresInHours, webauthnAssertion: envelope } = body;
      const order = { invitationId: call.newId('passkeyInvitation'), ownerId, name, expiresInHours, envelope };
      const created = await inTransaction(deps, call, (tx, cause) => createInvitation(tx, relyingParty, order, cause));
      const { row, token } = resultOf(created);
      return { ...invitationWire(row, new Date()), enrolUrl: enrolUrlOf(deps.publicUrl, token) };
    },
    listPasskeyInvitations: async ({ query: { cursor, limit }, own }) => {
      const found = await listInvitations(database.read(), own.ownerId, { after: cursor, limit });
      return mapPage(found, (row) => invitationWire(row, new Date()));
    },
    revokePasskeyInvitation: async ({ params: { id }, own: { ownerId } }, call) => {
      await inTransaction(deps, call, (tx, cause) => revokeInvitation(tx, { id, ownerId }, cause));
      return { id, revoked: true };
    },
    getEnrolment: async ({ params }) => enrolmentOf(deps, await behind(params.token)),
    startEnrolment: async ({ params }, call) => {
      const invitation = await behind(params.token);
      const askedBy = { kind: 'link', address: call.cause.sourceAddress } as const;
      const order = { invitation, challengeId: call.newId('challenge'), askedBy };
      const { challenge, enrolled } = await inTransaction(deps, call, (tx, cause) =>
        startInvited(tx, relyingParty, order, cause),
      );
      return creationChallenge(relyingParty, challenge, { ownerId: invitation.ownerId, enrolled });
    },
    finishEnrolment: async ({ params, body: { challengeId, attestation } }, call) => {
      const invitation = await behind(params.token);
      const order = { invitation, passkeyId: call.newId('passkey'), challengeId, attestation };
      resultOf(await inTransaction(deps, call, (tx, cause) => enrolInvited(tx, relyingParty, order, cause)));
      return enrolmentOf(deps, await behind(params.token));
    },
  };
};

async function enrolmentOf(
  { database, relyingParty, businessNameOf }: InvitationDeps,
  invitation: Invitation,
): Promise<EnrolmentWire> {
  const tx = database.read();
  const { name, ownerId, passkeyId, expiresAt } = invitation;
  const [now, enrolled] = [new Date(), await enrolledPasskeys(tx, ownerId)];
  const passkey = passkeyId === null ? undefined : await findPasskey(tx, passkeyId);
  return {
    name,
    businessName: await businessNameOf(tx, ownerId),
    status: invitationStatus(invitation, now),
    expiresAt: expiresAt.toISOString(),
    refusal: whyNotEnrol(invitation, enrolled, now) ?? null,
    origin: relyingParty.origin,
    passkey: passkey === undefined ? null : passkeyOf(passkey),
  };
}

const passkeyOf = ({ createdAt, approvesFrom, revokedAt }: KnownPasskey) => ({
  enrolledAt: createdAt.toISOString(),
  approvesFrom: approvesFrom.toISOString(),
  isRemoved: revokedAt !== null,
});
