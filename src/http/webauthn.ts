/** The wire shapes of WebAuthn answers, which several areas accept. Wire shapes only. @module */
import * as z from 'zod';
import { id, instantOut } from './schemas.ts';

const base64url = (maximum: number) =>
  z
    .string()
    .min(1)
    .max(maximum)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url without padding');

/** `cross-platform`, `smart-card`: browsers add some without asking. */
const word = z.string().regex(/^[a-z-]{1,40}$/, 'must be a word of small letters and hyphens');

const credential = {
  id: base64url(1_400),
  rawId: base64url(1_400),
  type: z.literal('public-key'),
  authenticatorAttachment: word.nullish(),
  clientExtensionResults: z.looseObject({}).optional(),
};

/** `PublicKeyCredential.toJSON()` of `navigator.credentials.get`. */
export const webauthnAssertion = z
  .strictObject({
    challengeId: id('challenge', { elsewhere: 'the challenge is used up by id and subject' }),
    assertion: z.looseObject({
      ...credential,
      response: z.looseObject({
        clientDataJSON: base64url(8_000),
        authenticatorData: base64url(8_000),
        signature: base64url(4_000),
        userHandle: z
          .string()
          .max(200)
          .regex(/^[A-Za-z0-9_-]*$/, 'must be base64url without padding')
          .nullish(),
      }),
    }),
  })
  .meta({ id: 'WebauthnAssertion', description: 'The answer of a passkey to a challenge.' });

/** `PublicKeyCredential.toJSON()` of `navigator.credentials.create`. */
export const webauthnAttestation = z
  .looseObject({
    ...credential,
    response: z.looseObject({
      clientDataJSON: base64url(8_000),
      attestationObject: base64url(32_000),
      transports: z.array(word).max(10).optional(),
    }),
  })
  .meta({
    id: 'WebauthnAttestation',
    description: 'A new passkey: `PublicKeyCredential.toJSON()` of `navigator.credentials.create`.',
  });

export type AssertionEnvelope = z.output<typeof webauthnAssertion>;
/** Either kind of answer, as far as both are alike. */
export type WebauthnAnswer = {
  readonly id: string;
  readonly response: Readonly<Record<string, unknown>> & { readonly clientDataJSON: string };
};

/** A challenge, and what the browser is given for it; `options` is what `parse…OptionsFromJSON` takes. */
export const challengeOut = z
  .strictObject({
    challengeId: z.string(),
    options: z.looseObject({ challenge: z.string() }),
    expiresAt: instantOut.meta({ description: 'real time, whatever the business clock says' }),
  })
  .meta({ id: 'PasskeyChallenge', description: 'A challenge for a passkey, with the options for the browser.' });
export type PasskeyChallenge = z.input<typeof challengeOut>;
