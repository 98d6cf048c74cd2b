/** Answers the passkey operations: ask the service or the use case, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Call } from '../../../http/caller.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Records } from '../../../http/reaches.ts';
import type { Handlers } from '../../../http/route.ts';
import type { PasskeyChallenge } from '../../../http/webauthn.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import { findLiveChallenge, type Matter, makeChallenge, resultOf } from './challenge.service.ts';
import type { passkeysArea } from './passkey.contract.ts';
import { enrolledPasskeys, type Passkey } from './passkey.queries.ts';
import { enrolPasskey, type PasskeyWrites, refuseFurther, revokePasskey } from './passkey.service.ts';
import { creationChallenge, passkeyWire, requestChallenge } from './passkey.wire.ts';
import { refuseNameless } from './relying-party.ts';

export type PasskeyDeps = PasskeyWrites & {
  readonly database: Database;
  /** For an intent that the caller may reach. */
  readonly intentChallenge: (intent: Records['intent'], call: Call) => Promise<PasskeyChallenge>;
};

export const passkeyHandlers = (deps: PasskeyDeps): Handlers<typeof passkeysArea> => {
  const { database, relyingParty } = deps;
  const challengeFor = (matter: Matter & { name?: string | undefined }, call: Call) => {
    const id = call.newId('challenge');
    return inTransaction(deps, call, (tx) => makeChallenge(tx, id, matter));
  };
  return {
    startPasskeyRegistration: async ({ body, own: { ownerId } }, call) => {
      refuseNameless(relyingParty);
      const enrolled = await enrolledPasskeys(database.read(), ownerId);
      refuseFurther(enrolled, call.cause.at);
      const matter = { ownerId, purpose: 'register', subjectId: null, name: body.name } as const;
      const challenge = await challengeFor(matter, call);
      return creationChallenge(relyingParty, challenge, { ownerId, enrolled });
    },
    finishPasskeyRegistration: async ({ body, own: { ownerId } }, call) => {
      const { challengeId, attestation, name, webauthnAssertion: envelope } = body;
      const passkeyId = call.newId('passkey');
      const order = { passkeyId, ownerId, challengeId, attestation, name, envelope };
      const enrolled = await inTransaction(deps, call, (tx, cause) => enrolPasskey(tx, deps, order, cause));
      return passkeyWire(resultOf(enrolled));
    },
    listPasskeys: async ({ own }) => (await enrolledPasskeys(database.read(), own.ownerId)).map(passkeyWire),
    createPasskeyChallenge: async ({ body: { purpose, subjectId }, own: { ownerId } }, call) => {
      refuseNameless(relyingParty);
      const enrolled = await enrolledPasskeys(database.read(), ownerId);
      const matter: Matter = { ownerId, purpose, subjectId: subjectId ?? null };
      await refuseUnknownSubject(database, matter, enrolled);
      if (enrolled.length === 0) {
        throw new DomainError('invalid_state', 'no passkey is enrolled; the first one needs no assertion');
      }
      const challenge = await challengeFor(matter, call);
      return requestChallenge(relyingParty, challenge, enrolled);
    },
    createIntentChallenge: ({ records }, call) => deps.intentChallenge(records.intent, call),
    revokePasskey: async ({ params, body, own: { ownerId } }, call) => {
      const order = { passkeyId: params.id, ownerId, envelope: body.webauthnAssertion };
      resultOf(await inTransaction(deps, call, (tx, cause) => revokePasskey(tx, deps, order, cause)));
      return { id: params.id, revoked: true };
    },
  };
};

async function refuseUnknownSubject(
  database: Database,
  { ownerId, purpose, subjectId }: Matter,
  enrolled: readonly Passkey[],
): Promise<void> {
  const subject = subjectId ?? '';
  if (purpose === 'revoke_passkey' && !enrolled.some(({ id }) => id === subject)) throw notFound('passkey', subject);
  if (purpose !== 'enroll') return;
  const registration = await findLiveChallenge(database.read(), subject, ownerId);
  if (registration?.purpose !== 'register') throw notFound('open registration', subject);
}
