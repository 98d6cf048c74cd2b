/**
 * The passkey ceremony of every approval: a challenge bound to the record and its figures, and the verified answer,
 * whose effect is in the same transaction. The caller has checked who reaches the record.
 * @module
 */
import type { Database } from '../../../db/database.ts';
import type { Tx } from '../../../db/tx.ts';
import type { AssertionEnvelope, PasskeyChallenge } from '../../../http/webauthn.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cause } from '../../../platform/cause.ts';
import { withAssertion } from '../passkeys/assertion.service.ts';
import { type AskedBy, ceremony, type Matter, makeChallenge } from '../passkeys/challenge.service.ts';
import { enrolledPasskeys, type Passkey } from '../passkeys/passkey.queries.ts';
import { mayAttest } from '../passkeys/passkey.rules.ts';
import { requestChallenge } from '../passkeys/passkey.wire.ts';
import type { RelyingParty } from '../passkeys/relying-party.ts';

type Deps = { readonly database: Database; readonly relyingParty: RelyingParty };

/** `matter` is read in the transaction that uses it. */
export type Attested = { readonly ownerId: string; readonly matter: (tx: Tx) => Promise<Matter> };

export type ChallengeRequest = {
  readonly challengeId: Id<'challenge'>;
  readonly askedBy: AskedBy;
  readonly at: Date;
};

/** Options for the browser. A repeat with the same `challengeId` finds the first challenge. */
export type ChallengeFor = (subject: Attested, asked: ChallengeRequest) => Promise<PasskeyChallenge>;

export const challengeSubject =
  ({ database, relyingParty }: Deps): ChallengeFor =>
  async ({ ownerId, matter }, { challengeId, askedBy, at }) => {
    const enrolled = await enrolledPasskeys(database.read(), ownerId);
    const [first] = enrolled;
    if (first === undefined) throw noPasskey();
    const mayApprove = enrolled.filter((passkey) => mayAttest(passkey, at));
    if (mayApprove.length === 0) throw tooNew(first);
    const challenge = await database.write(async (tx) =>
      makeChallenge(tx, challengeId, { ...(await matter(tx)), askedBy }),
    );
    return requestChallenge(relyingParty, challenge, mayApprove);
  };

export type Asserted = { readonly passkey: Passkey; readonly isRepeat: boolean };

/** A refusal after the challenge was used leaves it used; a fault leaves everything as it was. */
export type Attest = <T>(
  subject: Attested,
  envelope: AssertionEnvelope,
  cause: Cause,
  effect: (tx: Tx, asserted: Asserted) => Promise<T>,
) => Promise<T>;

export const attestSubject =
  ({ database, relyingParty }: Deps): Attest =>
  (subject, envelope, cause, effect) =>
    ceremony(database, async (tx, inSavepoint) =>
      withAssertion(
        tx,
        inSavepoint,
        { relyingParty, envelope, matter: await subject.matter(tx) },
        cause,
        async (inner, { passkey, isRepeat }) => {
          if (!isRepeat && !mayAttest(passkey, cause.at)) throw tooNew(passkey);
          return effect(inner, { passkey, isRepeat });
        },
      ),
    );

const noPasskey = (): DomainError =>
  new DomainError('invalid_state', 'no passkey is enrolled; enrol one with POST /passkeys/register/options first');

const tooNew = ({ id, approvesFrom }: Passkey): DomainError =>
  new DomainError(
    'invalid_state',
    `passkey ${id} was enrolled after the last one was removed; it attests nothing before ${approvesFrom.toISOString()}`,
  );
