/** The passkey operations as published. Wire shapes only; the rules live in passkey.rules.ts. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { id, idOut, instantOut, text } from '../../../http/schemas.ts';
import { challengeOut, webauthnAssertion, webauthnAttestation } from '../../../http/webauthn.ts';
import { exampleId } from '../../../kernel/ids.ts';

const passkeyOut = z
  .strictObject({
    id: idOut('passkey'),
    name: z.string(),
    credentialId: z.string().meta({ description: 'base64url, as the authenticator gave it' }),
    transports: z.array(z.string()),
    backedUp: z.boolean().meta({ description: 'kept by a provider on more than one device' }),
    createdAt: instantOut,
    lastUsedAt: instantOut.nullable(),
    approvesFrom: instantOut.meta({
      description:
        'from when it may attest intents; later than createdAt where it followed the removal of the last one',
    }),
  })
  .meta({ id: 'Passkey', description: 'An enrolled passkey.' });

export type PasskeyWire = z.input<typeof passkeyOut>;

const name = text(64);
const subject = z
  .string()
  .regex(/^[\w:.-]{1,200}$/, 'must be an id')
  .meta({ description: 'what the assertion is to be good for' });

/** A challenge is bound to its subject: a removal names its passkey, an enrolment its registration. */
const challengeBody = z
  .discriminatedUnion('purpose', [
    z
      .strictObject({
        purpose: z.literal('revoke_passkey'),
        subjectId: id('passkey').meta({ description: 'the passkey to be removed' }),
      })
      .meta({ id: 'RevokePasskeyChallengeInput', description: 'Asks for the answer that removes a passkey.' }),
    z
      .strictObject({
        purpose: z.literal('enroll'),
        subjectId: id('challenge').meta({ description: 'the challengeId of POST /passkeys/register/options' }),
      })
      .meta({ id: 'EnrolPasskeyChallengeInput', description: 'Asks for the answer that enrols another passkey.' }),
    z
      .strictObject({
        purpose: z.literal('invite'),
        name: name.meta({ description: 'the person to be invited', examples: ['Anna Berg'] }),
      })
      .meta({ id: 'InviteChallengeInput', description: 'Asks for the answer that invites a person.' }),
    z
      .strictObject({ purpose: z.literal('generic'), subjectId: subject.optional() })
      .meta({ id: 'GenericChallengeInput', description: 'Asks for an answer to anything else.' }),
  ])
  .meta({ examples: [{ purpose: 'generic', subjectId: exampleId('wallet') }] });
export type ChallengeBody = z.output<typeof challengeBody>;

export const passkeysArea = defineArea({
  tag: 'Passkeys',
  base: '/passkeys',
  aliases: [],
  description: 'WebAuthn credentials of an owner: what a person proves presence and consent with.',
  operations: {
    startPasskeyRegistration: {
      method: 'post',
      path: '/register/options',
      summary: 'Options for enrolling a passkey',
      description:
        'Goes into `navigator.credentials.create`. Where a passkey is enrolled already, `register/verify` needs an assertion by one as well: ask for its challenge with `POST /passkeys/challenges`, purpose `enroll` and this `challengeId` as its subject.',
      auth: ['key', 'dashboard'],
      body: z.strictObject({ name: name.optional() }),
      success: { status: 200, body: challengeOut },
      refusals: ['invalid_state'],
      pure: true,
    },
    finishPasskeyRegistration: {
      method: 'post',
      path: '/register/verify',
      reaches: { 'body.challengeId': { elsewhere: 'the challenge is used up by id and owner' } },
      summary: 'Enrol a passkey',
      description:
        'The first one needs no assertion; every further one needs one by a passkey that is enrolled. While the only one still waits (`approvesFrom`) no further one is taken.',
      auth: ['key', 'dashboard'],
      body: z.strictObject({
        challengeId: id('challenge'),
        attestation: webauthnAttestation,
        name: name.optional(),
        webauthnAssertion: webauthnAssertion.optional(),
      }),
      success: { status: 201, body: passkeyOut },
      refusals: ['invalid_state', 'conflict'],
      fires: ['passkey.enrolled', 'passkey_invitation.revoked'],
    },
    listPasskeys: {
      method: 'get',
      path: '',
      summary: 'The enrolled passkeys, oldest first',
      auth: ['key', 'dashboard'],
      unpaged: 'an owner has few: limits.ts',
      success: { status: 200, body: z.array(passkeyOut) },
      refusals: [],
    },
    createPasskeyChallenge: {
      method: 'post',
      path: '/challenges',
      reaches: {
        'body.subjectId': { elsewhere: 'the subject is looked up among the passkeys and challenges of the owner' },
      },
      summary: 'A challenge for an assertion, bound to its purpose and subject',
      description:
        'Goes into `navigator.credentials.get`. Good for five minutes of real time and one answer. 400 while no passkey is enrolled.',
      auth: ['key', 'dashboard'],
      body: challengeBody,
      success: { status: 200, body: challengeOut },
      refusals: ['invalid_state', 'not_found'],
      pure: true,
    },
    createIntentChallenge: {
      method: 'post',
      path: '/intents/{intentId}/challenge',
      summary: 'A challenge for approving or attesting one intent',
      description:
        'Bound to the intent, its amount with the most that its tolerance lets through, and its merchant. The answer goes to `POST /intents/{id}/approve` or `POST /intents/{id}/attest`.',
      auth: ['key', 'dashboard'],
      params: z.strictObject({ intentId: id('intent') }),
      body: z.strictObject({}),
      success: { status: 200, body: challengeOut },
      refusals: ['invalid_state', 'not_found'],
      pure: true,
    },
    revokePasskey: {
      method: 'delete',
      path: '/{id}',
      reaches: { 'params.id': { elsewhere: 'the passkey is locked by id and owner' } },
      summary: 'Remove a passkey',
      description:
        'The only one left needs no assertion. With two or more enrolled it takes an assertion by another one; by the one that is removed: 403. Removing the last one keeps new ones from attesting for 24 hours.',
      auth: ['key', 'dashboard'],
      params: z.strictObject({ id: id('passkey') }),
      body: z.strictObject({ webauthnAssertion: webauthnAssertion.optional() }),
      success: {
        status: 200,
        body: z
          .strictObject({ id: idOut('passkey'), revoked: z.literal(true) })
          .meta({ id: 'RevokedPasskey', description: 'A passkey that was removed.' }),
      },
      refusals: ['not_found'],
      fires: ['passkey.revoked', 'passkey_invitation.revoked', 'device.deleted'],
    },
  },
});
