/**
 * Enrols and removes passkeys, each in one transaction with its event; changes of one owner's passkeys run one at a
 * time. The ceremonies decide the permission; hooks take away what a removed passkey stood for, and what the first one ends.
 * @module
 */
import { firstRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { AssertionEnvelope, WebauthnAnswer } from '../../../http/webauthn.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { later } from '../../../kernel/instant.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { holdAssertion, withAssertion } from './assertion.service.ts';
import { type CeremonyResult, ceremony, type Matter, noteHolder, useChallenge } from './challenge.service.ts';
import { type Attested, verifyCreation } from './passkey.ceremony.ts';
import {
  enrolledPasskeys,
  findPasskey,
  lastGoneAt,
  type Passkey,
  passkeyColumns,
  passkeyRow,
} from './passkey.queries.ts';
import { approvesFrom, removalDemand, silenceMs, whyNoFurther, whySelfRevoke } from './passkey.rules.ts';
import { unnamed } from './passkey.wire.ts';
import { type RelyingParty, refuseNameless } from './relying-party.ts';

export type PasskeyWrites = {
  readonly relyingParty: RelyingParty;
  /** Takes away what the passkey stood for, in the same transaction. */
  readonly onRevoked: (tx: Tx, passkeyId: Id<'passkey'>, cause: Cause) => Promise<void>;
  /** Ends what was allowed only while no passkey was enrolled, in the same transaction. */
  readonly onFirstEnrolled: (tx: Tx, ownerId: Id<'owner'>, cause: Cause) => Promise<void>;
};

export type Enrolment = {
  readonly passkeyId: Id<'passkey'>;
  readonly ownerId: Id<'owner'>;
  readonly challengeId: Id<'challenge'>;
  readonly attestation: WebauthnAnswer;
  readonly name: string | undefined;
  /** By a passkey that is enrolled already. */
  readonly envelope: AssertionEnvelope | undefined;
  /** Stands for that assertion. */
  readonly invitation?: UsedInvitation;
};

export type UsedInvitation = {
  readonly id: Id<'passkeyInvitation'>;
  /** Refuses where it is good for nothing any more. */
  admit(tx: Tx, enrolled: readonly Passkey[]): Promise<void>;
  /** Uses it up, together with the enrolment. */
  use(tx: Tx): Promise<void>;
};

export function enrolPasskey(
  tx: Tx,
  { relyingParty, onFirstEnrolled }: Pick<PasskeyWrites, 'relyingParty' | 'onFirstEnrolled'>,
  { passkeyId, ownerId, challengeId, attestation, name, envelope, invitation }: Enrolment,
  cause: Cause,
): Promise<CeremonyResult<Passkey>> {
  refuseNameless(relyingParty);
  return ceremony(tx, async (effect) => {
    await lockPasskeysOf(tx, ownerId);
    const known = await findPasskey(tx, passkeyId);
    if (known !== undefined) return known; // This very request enrolled it.
    const enrolled = await enrolledPasskeys(tx, ownerId);
    await invitation?.admit(tx, enrolled);
    refuseFurther(enrolled, cause.at);
    await assertBelowLimit(tx, 'passkeys', { ownerId, subject: ownerId, at: cause.at }, { isLocked: true });
    const needsVoucher = enrolled.length > 0 && invitation === undefined;
    const voucher = needsVoucher ? (envelope ?? refuseUnvouched(challengeId)) : undefined;
    const registration: Matter = { ownerId, purpose: 'register', subjectId: invitation?.id ?? null };
    const wanted = await useChallenge(tx, challengeId, registration, cause);
    const asserted =
      voucher === undefined
        ? undefined
        : await useChallenge(tx, voucher.challengeId, { ownerId, purpose: 'enroll', subjectId: challengeId }, cause);
    return effect(async (inner) => {
      if (voucher !== undefined && asserted !== undefined) {
        await holdAssertion(inner, { relyingParty, envelope: voucher, used: asserted, ownerId }, cause);
      }
      const attested = await verifyCreation(relyingParty, wanted.challenge, attestation);
      await noteHolder(inner, challengeId, passkeyId);
      const fresh = { passkeyId, ownerId, name: name ?? wanted.name ?? unnamed, attested };
      const passkey = await insertPasskey(inner, { ...fresh, invitationId: invitation?.id }, cause);
      await invitation?.use(inner);
      if (enrolled.length === 0) await onFirstEnrolled(inner, ownerId, cause);
      return passkey;
    });
  });
}

/** Also before a device makes a passkey for nothing. */
export function refuseFurther(enrolled: readonly Passkey[], at: Date): void {
  const why = whyNoFurther(enrolled, at);
  if (why !== undefined) throw new DomainError('invalid_state', why);
}

type Fresh = {
  readonly passkeyId: Id<'passkey'>;
  readonly ownerId: Id<'owner'>;
  readonly name: string;
  readonly attested: Attested;
  readonly invitationId: string | undefined;
};

async function insertPasskey(
  tx: Tx,
  { passkeyId, ownerId, name, attested, invitationId }: Fresh,
  cause: Cause,
): Promise<Passkey> {
  const { credentialId, publicKey, counter, transports, backedUp } = attested;
  const from = approvesFrom(cause.at, await lastGoneAt(tx, ownerId));
  const row = await firstRowOf(
    tx,
    passkeyRow,
    `insert into passkeys (id, owner_id, name, credential_id, public_key, counter, transports, backed_up, approves_from, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (credential_id) where revoked_at is null do nothing returning ${passkeyColumns}`,
    [
      passkeyId,
      ownerId,
      name,
      credentialId,
      Buffer.from(publicKey),
      counter,
      [...transports],
      backedUp,
      from,
      cause.at,
    ],
  );
  if (row === undefined) throw new DomainError('conflict', 'this credential is enrolled already');
  await recordChanges(tx, cause, [
    {
      event: 'passkey.enrolled',
      ...aboutPasskey(row),
      data: eventDataOf(row, 'enrolled'),
      details: { person: row.name, ...(invitationId === undefined ? {} : { invitationId }) },
    },
  ]);
  return row;
}

export type Removal = {
  readonly passkeyId: Id<'passkey'>;
  readonly ownerId: Id<'owner'>;
  readonly envelope: AssertionEnvelope | undefined;
};

export function revokePasskey(
  tx: Tx,
  { relyingParty, onRevoked }: PasskeyWrites,
  { passkeyId, ownerId, envelope }: Removal,
  cause: Cause,
): Promise<CeremonyResult<void>> {
  return ceremony(tx, async (effect) => {
    await lockPasskeysOf(tx, ownerId);
    const enrolled = await enrolledPasskeys(tx, ownerId);
    const passkey = enrolled.find(({ id }) => id === passkeyId);
    if (passkey === undefined) throw notFound('passkey', passkeyId);
    const remaining = enrolled.length - 1;
    if (removalDemand(enrolled.length) === 'none') {
      if (envelope !== undefined) refuseOtherPasskey(envelope, passkey);
      return remove(tx, { passkey, remaining, onRevoked }, cause);
    }
    if (envelope === undefined) throw new DomainError('invalid_request', needsAnother(enrolled.length, passkeyId));
    const matter: Matter = { ownerId, purpose: 'revoke_passkey', subjectId: passkeyId };
    return withAssertion(
      tx,
      effect,
      { relyingParty, envelope, matter },
      cause,
      async (inner, { passkey: asserting }) => {
        const why = whySelfRevoke(passkeyId, asserting.id);
        if (why !== undefined) throw new DomainError('forbidden', why);
        return remove(inner, { passkey, remaining, onRevoked, assertedBy: asserting.id }, cause);
      },
    );
  });
}

type Going = Pick<PasskeyWrites, 'onRevoked'> & {
  readonly passkey: Passkey;
  readonly remaining: number;
  readonly assertedBy?: Id<'passkey'>;
};

async function remove(tx: Tx, { passkey, remaining, onRevoked, assertedBy }: Going, cause: Cause): Promise<void> {
  const wasLast = remaining === 0;
  await runSql(tx, 'update passkeys set revoked_at = $2, was_last = $3 where id = $1', [passkey.id, cause.at, wasLast]);
  await onRevoked(tx, passkey.id, cause);
  const approvalsBlockedUntil = wasLast ? later(cause.at, silenceMs).toISOString() : null;
  const data = { ...eventDataOf(passkey, 'revoked'), remaining, approvalsBlockedUntil };
  const details = { person: passkey.name, assertedBy, status: data.status, remaining, approvalsBlockedUntil };
  await recordChanges(tx, cause, [{ event: 'passkey.revoked', ...aboutPasskey(passkey), data, details }]);
}

/** One change of an owner's passkeys at a time: how many are left decides what the next one takes. */
export const lockPasskeysOf = (tx: Tx, ownerId: string): Promise<unknown> =>
  runSql(tx, 'select lock_passkeys($1)', [ownerId]);

/** Another request removed the asserting passkey meanwhile: the caller does not mean to remove the last one. */
function refuseOtherPasskey({ assertion }: AssertionEnvelope, { credentialId }: Passkey): void {
  if (assertion.id === credentialId) return;
  throw new DomainError('invalid_request', 'the assertion does not hold: its passkey is not enrolled here');
}

function refuseUnvouched(challengeId: string): never {
  throw new DomainError(
    'invalid_request',
    `a passkey is enrolled already: send webauthnAssertion by it, made for a challenge of POST /passkeys/challenges with purpose enroll and subjectId ${challengeId}`,
  );
}

const needsAnother = (enrolled: number, id: string): string =>
  `${enrolled} passkeys are enrolled: send webauthnAssertion by another one, made for a challenge of POST /passkeys/challenges with purpose revoke_passkey and subjectId ${id}`;

const aboutPasskey = ({ id, ownerId }: Passkey) => ({ ownerId, subjectId: id });

/** Without the name that a person gave it, its key and its credential id. */
const eventDataOf = (passkey: Passkey, status: 'enrolled' | 'revoked') => ({
  id: passkey.id,
  ownerId: passkey.ownerId,
  status,
  transports: [...passkey.transports],
  backedUp: passkey.backedUp,
  createdAt: passkey.createdAt.toISOString(),
  approvesFrom: passkey.approvesFrom.toISOString(),
});
