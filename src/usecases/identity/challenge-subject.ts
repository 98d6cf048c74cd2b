/**
 * The challenge of an approval, for one of the owner's passkeys: bound to the record and its figures. The caller has
 * checked who reaches the record.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import type { Matter } from '../../domains/identity/passkeys/challenge.service.ts';
import { type AskedBy, makeChallenge } from '../../domains/identity/passkeys/challenge.service.ts';
import { enrolledPasskeys, type Passkey } from '../../domains/identity/passkeys/passkey.queries.ts';
import { mayAttest } from '../../domains/identity/passkeys/passkey.rules.ts';
import { requestChallenge } from '../../domains/identity/passkeys/passkey.wire.ts';
import type { RelyingParty } from '../../domains/identity/passkeys/relying-party.ts';
import type { PasskeyChallenge } from '../../http/webauthn.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';

export type CeremonyDeps = { readonly database: Database; readonly relyingParty: RelyingParty };

/** What a passkey approves. `matter` is read in the transaction that uses it. */
export type AttestedRecord = { readonly ownerId: string; readonly matter: (tx: Tx) => Promise<Matter> };

export type ChallengeRequest = {
  readonly challengeId: Id<'challenge'>;
  readonly askedBy: AskedBy;
  readonly at: Date;
};

/** Options for the browser. A repeat with the same `challengeId` finds the first challenge. */
export type ChallengeFor = (record: AttestedRecord, request: ChallengeRequest) => Promise<PasskeyChallenge>;

export const challengeSubject =
  ({ database, relyingParty }: CeremonyDeps): ChallengeFor =>
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

const noPasskey = (): DomainError =>
  new DomainError('invalid_state', 'no passkey is enrolled; enrol one with POST /passkeys/register/options first');

export const tooNew = ({ id, approvesFrom }: Passkey): DomainError =>
  new DomainError(
    'invalid_state',
    `passkey ${id} was enrolled after the last one was removed; it attests nothing before ${approvesFrom.toISOString()}`,
  );
