/**
 * Verifies an assertion: its challenge is unused, the passkey is enrolled for the owner, the signature is valid and the
 * counter increased. Runs in the caller's transaction, so that the challenge is used together with the permitted
 * change.
 * @module
 */
import { firstRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { AssertionEnvelope } from '../../../http/webauthn.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';
import { type Effect, type Matter, noteHolder, type Used, useChallenge } from './challenge.service.ts';
import { verifyAssertion } from './passkey.ceremony.ts';
import { type Passkey, passkeyColumns, passkeyRow } from './passkey.queries.ts';
import type { RelyingParty } from './relying-party.ts';

export type Asserted = { readonly passkey: Passkey; readonly isRepeat: boolean };

type AssertionCheck = {
  readonly relyingParty: RelyingParty;
  readonly envelope: AssertionEnvelope;
  readonly matter: Matter;
};

/** Uses the challenge up, checks the answer, and does `work` with the passkey that gave it. */
export async function withAssertion<T>(
  tx: Tx,
  effect: Effect,
  { relyingParty, envelope, matter }: AssertionCheck,
  cause: Cause,
  work: (tx: Tx, asserted: Asserted) => Promise<T>,
): Promise<T> {
  const used = await useChallenge(tx, envelope.challengeId, matter, cause);
  return effect(async (inner) =>
    work(inner, await holdAssertion(inner, { relyingParty, envelope, used, ownerId: matter.ownerId }, cause)),
  );
}

type Answered = {
  readonly relyingParty: RelyingParty;
  readonly envelope: AssertionEnvelope;
  readonly used: Used;
  readonly ownerId: string;
};

/** The row is locked: two assertions of one passkey are counted one after the other. */
export async function holdAssertion(
  tx: Tx,
  { relyingParty, envelope: { assertion }, used, ownerId }: Answered,
  cause: Cause,
): Promise<Asserted> {
  const passkey = await firstRowOf(
    tx,
    passkeyRow,
    `select ${passkeyColumns} from passkeys
     where owner_id = $1 and (case when $3::text is null then credential_id = $2 and revoked_at is null else id = $3 end)
     for update`,
    [ownerId, assertion.id, used.isRepeat ? used.usedBy : null],
  );
  if (passkey === undefined) {
    throw new DomainError('invalid_request', 'the assertion does not hold: its passkey is not enrolled here', {
      isFailedVerification: true,
    });
  }
  if (used.isRepeat) return { passkey, isRepeat: true };
  const { counter, backedUp } = await verifyAssertion(relyingParty, used.challenge, assertion, passkey);
  await runSql(tx, 'update passkeys set counter = $2, backed_up = $3, last_used_at = $4 where id = $1', [
    passkey.id,
    counter,
    backedUp,
    cause.at,
  ]);
  await noteHolder(tx, used.id, passkey.id);
  return { passkey, isRepeat: false };
}
