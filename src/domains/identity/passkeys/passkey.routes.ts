/** Answers the passkey operations: ask the service or the use case, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Call } from '../../../http/caller.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Records } from '../../../http/reaches.ts';
import type { Handlers } from '../../../http/route.ts';
import type { PasskeyChallenge } from '../../../http/webauthn.ts';
import { resultOf } from './challenge.service.ts';
import type { passkeysArea } from './passkey.contract.ts';
import { enrolledPasskeys } from './passkey.queries.ts';
import { enrolPasskey, type PasskeyWrites, revokePasskey } from './passkey.service.ts';
import { startAssertion, startEnrolment } from './passkey.start.service.ts';
import { creationChallenge, passkeyWire, requestChallenge, subjectOf } from './passkey.wire.ts';

export type PasskeyDeps = PasskeyWrites & {
  readonly database: Database;
  /** For an intent that the caller may reach. */
  readonly intentChallenge: (intent: Records['intent'], call: Call) => Promise<PasskeyChallenge>;
};

export const passkeyHandlers = (deps: PasskeyDeps): Handlers<typeof passkeysArea> => {
  const { database, relyingParty } = deps;
  return {
    startPasskeyRegistration: async ({ body, own: { ownerId } }, call) => {
      const order = { challengeId: call.newId('challenge'), ownerId, name: body.name };
      const { challenge, enrolled } = await inTransaction(deps, call, (tx, cause) =>
        startEnrolment(tx, relyingParty, order, cause),
      );
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
    createPasskeyChallenge: async ({ body, own: { ownerId } }, call) => {
      const order = { challengeId: call.newId('challenge'), ownerId, ...subjectOf(body) };
      const { challenge, enrolled } = await inTransaction(deps, call, (tx) => startAssertion(tx, relyingParty, order));
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
