/**
 * The answer of a passkey to the challenge of an approval: verified, with its effect in the same transaction. The caller
 * has checked who reaches the record.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { type Asserted, withAssertion } from '../../domains/identity/passkeys/assertion.service.ts';
import { ceremony, resultOf } from '../../domains/identity/passkeys/challenge.service.ts';
import { mayAttest } from '../../domains/identity/passkeys/passkey.rules.ts';
import type { AssertionEnvelope } from '../../http/webauthn.ts';
import type { Cause } from '../../platform/cause.ts';
import { type AttestedRecord, type CeremonyDeps, tooNew } from './challenge-subject.ts';

/** A refusal after the challenge was used leaves it used; a fault leaves everything as it was. */
export type Attest = <T>(
  record: AttestedRecord,
  envelope: AssertionEnvelope,
  cause: Cause,
  effect: (tx: Tx, asserted: Asserted) => Promise<T>,
) => Promise<T>;

export const attestSubject =
  ({ database, relyingParty }: CeremonyDeps): Attest =>
  async (record, envelope, cause, effect) =>
    resultOf(
      await database.write((tx) =>
        ceremony(tx, async (inSavepoint) => {
          const assertion = { relyingParty, envelope, matter: await record.matter(tx) };
          return withAssertion(tx, inSavepoint, assertion, cause, async (inner, { passkey, isRepeat }) => {
            if (!isRepeat && !mayAttest(passkey, cause.at)) throw tooNew(passkey);
            return effect(inner, { passkey, isRepeat });
          });
        }),
      ),
    );
