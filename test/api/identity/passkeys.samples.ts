/** Sample calls and records of passkeys, for the suites that cover all operations. @module */
import { passkeysArea } from '../../../src/domains/identity/passkeys/passkey.contract.ts';
import { softPasskey } from '../../support/authenticator.ts';
import { aPasskey, thePasskey } from '../../support/factories/passkeys.ts';
import { samplesOf } from '../../support/samples.ts';
import { theIntent } from '../spending/intents.samples.ts';

export const samples = samplesOf(passkeysArea, {
  ids: { id: async (one) => (await one.the(thePasskey)).id, intentId: theIntent },
  calls: (one) => {
    const { world, owner } = one;
    const passkeys = one.client(passkeysArea);
    return {
      startPasskeyRegistration: () => ({ body: { name: 'one more' } }),
      finishPasskeyRegistration: async () => {
        const first = await one.the(thePasskey);
        const { challengeId, options } = await passkeys.startPasskeyRegistration({ body: {} });
        const challenge = await passkeys.createPasskeyChallenge({
          body: { purpose: 'enroll', subjectId: challengeId },
        });
        const attestation = softPasskey(world.config.publicUrl).create(options);
        return { body: { challengeId, attestation, webauthnAssertion: first.answer(challenge) } };
      },
      listPasskeys: () => ({}),
      createPasskeyChallenge: async () => {
        await one.the(thePasskey);
        return { body: { purpose: 'generic' } };
      },
      createIntentChallenge: async () => {
        await one.the(thePasskey);
        return { path: { intentId: await one.the(theIntent) } };
      },
      revokePasskey: async () => {
        const first = await one.the(thePasskey);
        const { id: subjectId } = await aPasskey(world, owner, first);
        const challenge = await passkeys.createPasskeyChallenge({ body: { purpose: 'revoke_passkey', subjectId } });
        return { path: { id: subjectId }, body: { webauthnAssertion: first.answer(challenge) } };
      },
    };
  },
});
