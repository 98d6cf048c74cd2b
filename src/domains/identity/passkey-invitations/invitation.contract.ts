/** The operations of invitations to enrol a passkey, and of the links that they make. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { id, idOut, instantOut, pageOut, pageQuery, text } from '../../../http/schemas.ts';
import { challengeOut, webauthnAssertion, webauthnAttestation } from '../../../http/webauthn.ts';
import { defaultInvitationHours, invitationStatuses, longestInvitationHours } from './invitation.rules.ts';

const personName = z.string().meta({ description: 'the person, as the owner named it', examples: ['Anna Berg'] });
const expiresAt = instantOut.meta({
  description: 'in real time, which the sandbox clock does not move',
});

const known = {
  id: idOut('passkeyInvitation'),
  name: personName,
  status: z.enum(invitationStatuses).meta({
    description: '`enrolled`: a passkey was enrolled with it, which removes nothing but itself',
  }),
  passkeyId: idOut('passkey').nullable().meta({ description: 'the passkey that was enrolled with it; null before' }),
  createdAt: instantOut,
  expiresAt,
};
const Invitation = z
  .strictObject(known)
  .meta({ id: 'PasskeyInvitation', description: 'An invitation to enrol a passkey, without its link.' });
export type InvitationWire = z.input<typeof Invitation>;

const NewInvitation = z
  .strictObject({
    ...known,
    enrolUrl: z.string().meta({
      description: 'the link for this person; shown only here',
      examples: ['https://pay.example.com/enrol/5f0c…'],
    }),
  })
  .meta({ id: 'NewPasskeyInvitation', description: 'An invitation with its link, which is shown only once.' });

export const enrolmentOut = z
  .strictObject({
    name: personName,
    businessName: z
      .string()
      .nullable()
      .meta({ description: 'the business that invites; null where the owner has named none', examples: ['Acme GmbH'] }),
    status: z.enum(invitationStatuses),
    expiresAt,
    refusal: z
      .string()
      .nullable()
      .meta({
        description: 'why no passkey can be enrolled; null where one can',
        examples: ['this invitation was revoked; ask for a new one'],
      }),
    origin: z
      .string()
      .meta({ description: 'where the browser must be for the ceremony', examples: ['https://pay.example.com'] }),
    passkey: z
      .strictObject({
        enrolledAt: instantOut.meta({ description: 'when it was enrolled' }),
        approvesFrom: instantOut.meta({ description: 'from when it may approve' }),
        isRemoved: z.boolean().meta({ description: 'whether the owner has removed it since', examples: [false] }),
      })
      .nullable()
      .meta({ description: 'what was enrolled with the link; null before' }),
  })
  .meta({ id: 'Enrolment', description: 'What an invited person can do with the link.' });
export type EnrolmentWire = z.infer<typeof enrolmentOut>;

const one = z.strictObject({ token: z.string().max(128).meta({ description: 'the last part of the link' }) });

export const passkeyInvitationsArea = defineArea({
  tag: 'Passkey Invitations',
  base: '',
  aliases: [],
  description:
    'A named person enrols a passkey by a link, and approves with it, without ever seeing an API key. The link is a capability: for one passkey, for a limited time, until it is revoked.',
  operations: {
    createPasskeyInvitation: {
      method: 'post',
      path: '/passkeys/invitations',
      summary: 'Invite a person to enrol a passkey',
      description: `The answer has the link, once. While no passkey is enrolled, the invitation needs no assertion, and is revoked as soon as one is enrolled otherwise. With a passkey enrolled, it needs an assertion: ask for its challenge with \`POST /passkeys/challenges\`, purpose \`invite\` and the same name. Removing the passkey that confirmed an open invitation revokes it.`,
      auth: ['key'],
      body: z.strictObject({
        name: text(64).meta({ description: 'the person, as approvals will name it', examples: ['Anna Berg'] }),
        expiresInHours: z
          .int()
          .min(1)
          .max(longestInvitationHours)
          .default(defaultInvitationHours)
          .meta({ description: 'counted in real time', examples: [defaultInvitationHours] }),
        webauthnAssertion: webauthnAssertion.optional(),
      }),
      success: { status: 201, body: NewInvitation },
      refusals: ['invalid_state'],
      fires: ['passkey_invitation.created'],
      secret: true,
    },
    listPasskeyInvitations: {
      method: 'get',
      path: '/passkeys/invitations',
      summary: 'The invitations, newest first',
      auth: ['key'],
      query: z.strictObject(pageQuery('passkeyInvitation')),
      success: { status: 200, body: pageOut(Invitation) },
      refusals: [],
    },
    revokePasskeyInvitation: {
      method: 'delete',
      path: '/passkeys/invitations/{id}',
      reaches: { 'params.id': { elsewhere: 'the invitation is read by id and owner, under the lock of the passkeys' } },
      summary: 'Revoke an invitation',
      description:
        'Its link enrols nothing from the commit on. Revoking what is revoked already is 200 again. 400 once a passkey was enrolled with it: remove that passkey.',
      auth: ['key'],
      params: z.strictObject({ id: id('passkeyInvitation') }),
      success: {
        status: 200,
        body: z
          .strictObject({ id: idOut('passkeyInvitation'), revoked: z.literal(true) })
          .meta({ id: 'RevokedPasskeyInvitation', description: 'An invitation that is no longer valid.' }),
      },
      refusals: ['invalid_state', 'not_found'],
      fires: ['passkey_invitation.revoked'],
    },
    getEnrolment: {
      method: 'get',
      path: '/enrol/{token}',
      summary: 'What the link is for; a page for browsers',
      description: 'A page where `Accept` prefers HTML, else JSON.',
      auth: ['public'],
      params: one,
      success: { status: 200, body: enrolmentOut },
      refusals: ['not_found'],
      page: true,
    },
    startEnrolment: {
      method: 'post',
      path: '/enrol/{token}/options',
      summary: 'Begin the enrolment: options for a passkey',
      description: 'Goes into `navigator.credentials.create`. Good for this link, for one answer, for five minutes.',
      auth: ['public'],
      params: one,
      body: z.strictObject({}),
      success: { status: 200, body: challengeOut },
      refusals: ['invalid_state', 'not_found'],
      pure: true,
    },
    finishEnrolment: {
      method: 'post',
      path: '/enrol/{token}',
      summary: 'Enrol the passkey',
      description:
        'Uses the link up. Sending the passkey that was enrolled with it again answers 200 again and changes nothing.',
      auth: ['public'],
      params: one,
      body: z.strictObject({
        challengeId: id('challenge', { elsewhere: 'the challenge is used up by id and invitation' }),
        attestation: webauthnAttestation,
      }),
      success: { status: 200, body: enrolmentOut },
      refusals: ['invalid_state', 'conflict', 'not_found'],
      fires: ['passkey.enrolled', 'passkey_invitation.revoked'],
    },
  },
});
