/**
 * Makes, uses and revokes invitations, each in one transaction under the owner's lock of passkeys. Where a passkey is
 * enrolled, the owner confirms an invitation with it, because an invitation stands for the assertion of an enrolment.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { oneRowOf, rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { AssertionEnvelope, WebauthnAnswer } from '../../../http/webauthn.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { hour, later } from '../../../kernel/instant.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { hashSecret } from '../../../vault/secret-hash.ts';
import { withAssertion } from '../passkeys/assertion.service.ts';
import { type AskedBy, type CeremonyResult, ceremony, makeChallenge } from '../passkeys/challenge.service.ts';
import { enrolledPasskeys, findPasskey, type Passkey } from '../passkeys/passkey.queries.ts';
import { enrolPasskey, lockPasskeysOf, refuseFurther } from '../passkeys/passkey.service.ts';
import type { StartedCeremony } from '../passkeys/passkey.start.service.ts';
import { type RelyingParty, refuseNameless } from '../passkeys/relying-party.ts';
import { findInvitation, type Invitation, invitationColumns, invitationRow } from './invitation.queries.ts';
import { invitationStatus, whyNotEnrol, whyNotRevoke } from './invitation.rules.ts';

export type InvitationOrder = {
  readonly invitationId: Id<'passkeyInvitation'>;
  readonly ownerId: Id<'owner'>;
  readonly name: string;
  readonly expiresInHours: number;
  /** By a passkey that is enrolled. */
  readonly envelope: AssertionEnvelope | undefined;
};

export type CreatedInvitation = { readonly row: Invitation; readonly token: string };

export function createInvitation(
  tx: Tx,
  relyingParty: RelyingParty,
  order: InvitationOrder,
  cause: Cause,
): Promise<CeremonyResult<CreatedInvitation>> {
  refuseNameless(relyingParty);
  const { invitationId, ownerId, name, envelope } = order;
  const token = randomBytes(16).toString('hex');
  return ceremony(tx, async (effect) => {
    await lockPasskeysOf(tx, ownerId);
    const known = await findInvitation(tx, invitationId, ownerId);
    if (known !== undefined) return { row: await renewed(tx, known, token), token };
    const enrolled = await enrolledPasskeys(tx, ownerId);
    refuseFurther(enrolled, cause.at);
    const counted = { ownerId, subject: ownerId, at: cause.at };
    await assertBelowLimit(tx, 'passkey_invitations', counted, { isLocked: true });
    if (enrolled.length === 0) {
      if (envelope !== undefined) throw new DomainError('invalid_request', 'no passkey is enrolled; send no assertion');
      return { row: await insertInvitation(tx, { ...order, token, vouchedBy: null }, cause), token };
    }
    if (envelope === undefined) throw unconfirmed();
    const matter = { ownerId, purpose: 'invite', subjectId: null, terms: name } as const;
    return withAssertion(tx, effect, { relyingParty, envelope, matter }, cause, async (inner, { passkey }) => ({
      row: await insertInvitation(inner, { ...order, token, vouchedBy: passkey.id }, cause),
      token,
    }));
  });
}

/** This very request made it before, and died before it could show the link: that one is void. */
async function renewed(tx: Tx, { id }: Invitation, token: string): Promise<Invitation> {
  const [row] = await rowsOf(
    tx,
    invitationRow,
    `update passkey_invitations set token_hash = $2 where id = $1 and revoked_at is null and passkey_id is null
     returning ${invitationColumns}`,
    [id, hashSecret(token)],
  );
  if (row === undefined) throw new DomainError('invalid_state', `invitation ${id} was used or revoked meanwhile`);
  return row;
}

type Fresh = InvitationOrder & { readonly token: string; readonly vouchedBy: Id<'passkey'> | null };

async function insertInvitation(
  tx: Tx,
  { invitationId, ownerId, name, expiresInHours, token, vouchedBy }: Fresh,
  cause: Cause,
): Promise<Invitation> {
  const row = await oneRowOf(
    tx,
    invitationRow,
    `insert into passkey_invitations (id, owner_id, name, token_hash, vouched_by, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${invitationColumns}`,
    [invitationId, ownerId, name, hashSecret(token), vouchedBy, cause.at, later(new Date(), expiresInHours * hour)],
  );
  await recordChanges(tx, cause, [changeOf(row, 'created', { person: name, vouchedBy })]);
  return row;
}

/** For a browser that holds the link. A further challenge replaces an older one, so the link cannot be used up. */
export async function startInvited(
  tx: Tx,
  relyingParty: RelyingParty,
  given: { readonly invitation: Invitation; readonly challengeId: Id<'challenge'>; readonly askedBy: AskedBy },
  cause: Cause,
): Promise<StartedCeremony> {
  refuseNameless(relyingParty);
  const { invitation, challengeId, askedBy } = given;
  const { id: subjectId, ownerId, name } = invitation;
  const enrolled = await enrolledPasskeys(tx, ownerId);
  refuseUnusable(invitation, enrolled);
  refuseFurther(enrolled, cause.at);
  const matter = { ownerId, purpose: 'register', subjectId, name, askedBy } as const;
  return { challenge: await makeChallenge(tx, challengeId, matter), enrolled };
}

type InvitedEnrolment = {
  readonly invitation: Invitation;
  readonly passkeyId: Id<'passkey'>;
  readonly challengeId: Id<'challenge'>;
  readonly attestation: WebauthnAnswer;
};

/**
 * A passkey that was enrolled with it already is answered again: the first answer may have been lost. Read under the
 * lock, because the first request may still be on its way.
 */
export const enrolInvited = async (
  tx: Tx,
  relyingParty: RelyingParty,
  { invitation, passkeyId, challengeId, attestation }: InvitedEnrolment,
  cause: Cause,
): Promise<CeremonyResult<Passkey>> => {
  const { id, ownerId, name } = invitation;
  await lockPasskeysOf(tx, ownerId);
  const usedBy = (await findInvitation(tx, id, ownerId))?.passkeyId ?? null;
  const known = usedBy === null ? undefined : await findPasskey(tx, usedBy);
  if (known?.credentialId === attestation.id) return { done: known };
  const byInvitation = {
    id,
    admit: async (inner: Tx, enrolled: readonly Passkey[]) => {
      const now = await findInvitation(inner, id, ownerId);
      if (now === undefined) throw notFound('invitation', id);
      refuseUnusable(now, enrolled);
    },
    use: async (inner: Tx) => {
      await runSql(inner, 'update passkey_invitations set passkey_id = $2, used_at = $3 where id = $1', [
        id,
        passkeyId,
        cause.at,
      ]);
    },
  };
  const order = { passkeyId, ownerId, challengeId, attestation, name, envelope: undefined, invitation: byInvitation };
  return enrolPasskey(tx, { relyingParty, onFirstEnrolled: revokeUnconfirmedInvitationsOf }, order, {
    ...cause,
    actor: { kind: 'invitation', id },
  });
};

export async function revokeInvitation(
  tx: Tx,
  { id, ownerId }: { readonly id: string; readonly ownerId: Id<'owner'> },
  cause: Cause,
): Promise<void> {
  await lockPasskeysOf(tx, ownerId);
  const row = await findInvitation(tx, id, ownerId);
  if (row === undefined) throw notFound('invitation', id);
  const why = whyNotRevoke(id, row.passkeyId);
  if (why !== undefined) throw new DomainError('invalid_state', why);
  await revokeWhere(tx, 'id = $1', id, cause);
}

/** Those that a removed passkey confirmed: it stands for nothing any more. */
export const revokeInvitationsOf = (tx: Tx, passkeyId: string, cause: Cause): Promise<void> =>
  revokeWhere(tx, 'vouched_by = $1', passkeyId, cause);

/**
 * Those that no passkey confirmed, once the first one is enrolled. They would become valid again with its removal, and
 * the holder of a stolen key could have made them before.
 */
export const revokeUnconfirmedInvitationsOf = (tx: Tx, ownerId: string, cause: Cause): Promise<void> =>
  revokeWhere(tx, unconfirmedOf, ownerId, cause);

/** Expired ones stay as they are. */
const unconfirmedOf = 'owner_id = $1 and vouched_by is null and expires_at > now()';

type Condition = 'id = $1' | 'vouched_by = $1' | typeof unconfirmedOf;

async function revokeWhere(tx: Tx, condition: Condition, value: string, cause: Cause) {
  const revoked = await rowsOf(
    tx,
    invitationRow,
    `update passkey_invitations set revoked_at = $2 where ${condition} and revoked_at is null and passkey_id is null
     returning ${invitationColumns}`,
    [value, cause.at],
  );
  await recordChanges(
    tx,
    cause,
    revoked.map((row) => changeOf(row, 'revoked', { person: row.name })),
  );
}

function refuseUnusable(invitation: Invitation, enrolled: readonly Passkey[]): void {
  const why = whyNotEnrol(invitation, enrolled, new Date());
  if (why !== undefined) throw new DomainError('invalid_state', why);
}

const unconfirmed = (): DomainError =>
  new DomainError(
    'invalid_request',
    'a passkey is enrolled: send webauthnAssertion by it, made for a challenge of POST /passkeys/challenges with purpose invite and the name of this person',
  );

/** The name of the person is in the audit row alone. */
const changeOf = (row: Invitation, what: 'created' | 'revoked', details: Record<string, unknown>) =>
  ({
    event: `passkey_invitation.${what}`,
    ownerId: row.ownerId,
    subjectId: row.id,
    data: {
      id: row.id,
      ownerId: row.ownerId,
      status: invitationStatus(row, new Date()),
      createdAt: row.createdAt.toISOString(),
      expiresAt: row.expiresAt.toISOString(),
    },
    details,
  }) as const;
