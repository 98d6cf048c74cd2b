/** Passkeys of an owner, enrolled over the API with software authenticators. @module */
import { passkeysArea } from '../../../src/domains/identity/passkeys/passkey.contract.ts';
import { type SoftPasskey, softPasskey } from '../authenticator.ts';
import type { Make } from '../samples.ts';
import type { Owner, World } from '../world.ts';

export type EnrolledPasskey = SoftPasskey & { readonly id: string };

type Challenge = { readonly challengeId: string; readonly options: { readonly challenge: string } };

type Place = { readonly config: Pick<World['config'], 'publicUrl'> };

/** `by`: a passkey that is enrolled already; needed for every one after the first. */
export async function aPasskey(world: Place, owner: Owner, by?: SoftPasskey): Promise<EnrolledPasskey> {
  const passkeys = owner.client(passkeysArea);
  const soft = softPasskey(world.config.publicUrl);
  const { challengeId, options } = await passkeys.startPasskeyRegistration({ body: { name: 'a passkey' } });
  const vouched =
    by === undefined
      ? {}
      : {
          webauthnAssertion: by.answer(
            await passkeys.createPasskeyChallenge({ body: { purpose: 'enroll', subjectId: challengeId } }),
          ),
        };
  const attestation = soft.create(options) as never;
  const { id } = await passkeys.finishPasskeyRegistration({ body: { challengeId, attestation, ...vouched } });
  return Object.assign(soft, { id });
}

export const intentChallengeOf = (owner: Owner, intentId: string): Promise<Challenge> =>
  owner.client(passkeysArea).createIntentChallenge({ params: { intentId }, body: {} });

/** The first passkey of a sampler's owner, which confirms each later one. */
export const thePasskey: Make<EnrolledPasskey> = ({ world, owner }) => aPasskey(world, owner);
