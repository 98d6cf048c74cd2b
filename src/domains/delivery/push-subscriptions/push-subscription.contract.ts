/** The push subscription operations as published. Wire shapes only; the rules live in push.rules.ts. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { id, idOut, instantOut, pageOut, pageQuery, text } from '../../../http/schemas.ts';
import { challengeOut, webauthnAssertion } from '../../../http/webauthn.ts';
import { limits } from '../../../platform/limits.ts';
import { pushKinds } from './push.rules.ts';

const kinds = z.enum(pushKinds);
const eventsOut = z.array(kinds).meta({
  description:
    'the notifications that the device gets: `approval`, requests that wait for a person; `risk`, risk alerts and, of the owner’s devices, webhook subscriptions that were disabled',
  examples: [['approval', 'risk']],
});

const subscriptionOut = z
  .strictObject({
    id: idOut('pushSubscription'),
    ownerId: idOut('owner'),
    endpoint: z.string().meta({
      description: 'the address at the push service of the device',
      examples: ['https://push.example.com/send/4b1c'],
    }),
    events: eventsOut,
    deviceName: z
      .string()
      .nullable()
      .meta({ description: 'for people; null without one', examples: ['Anna’s phone'] }),
    passkeyId: idOut('passkey')
      .nullable()
      .meta({ description: 'the passkey of the invited person whose device it is; null for the owner’s' }),
    createdAt: instantOut,
    lastSuccessAt: instantOut
      .nullable()
      .meta({ description: 'when the push service last took a message; null before the first' }),
  })
  .meta({ id: 'PushSubscription', description: 'A device that gets notifications. Its keys are never returned.' });
export type PushSubscriptionWire = z.input<typeof subscriptionOut>;

const base64url = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url without padding');

const endpoint = z
  .string()
  .max(2_000)
  .regex(/^https:\/\/[!-~]+$/, 'must be an https address in ASCII')
  .meta({ description: 'an https address, as the browser gave it', examples: ['https://push.example.com/send/4b1c'] });

/** A point of P-256: the key of the receiver in RFC 8291, appendix A. */
const exampleKey = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4';

const device = {
  endpoint,
  keys: z
    .strictObject({
      p256dh: base64url(200).meta({ description: 'the public key of the device', examples: [exampleKey] }),
      auth: base64url(64).meta({
        description: '16 bytes that the device shares',
        examples: ['c2l4dGVlbiByYW5kb20gYg'],
      }),
    })
    .meta({ id: 'PushKeys', description: 'The keys of `PushSubscription.toJSON()`.' }),
  events: z
    .array(kinds)
    .min(1)
    .max(pushKinds.length)
    .default([...pushKinds])
    .meta({ description: 'absent: all', examples: [['approval', 'risk']] }),
  deviceName: text(120)
    .optional()
    .meta({ description: 'for people', examples: ['Anna’s phone'] }),
  publicKey: base64url(100)
    .optional()
    .meta({
      description:
        'the key of `GET /push-subscriptions/public-key` that the device subscribed with; absent: the current one, and for a known endpoint the one that it has',
      examples: [exampleKey],
    }),
};

const publicKeyOut = z
  .strictObject({ publicKey: z.string().meta({ description: 'P-256, base64url', examples: [exampleKey] }) })
  .meta({ id: 'PushPublicKey', description: 'What a browser takes as `applicationServerKey`.' });

const link = z.strictObject({ token: z.string().max(128).meta({ description: 'the last part of the link' }) });

export const pushSubscriptionsArea = defineArea({
  tag: 'Push Subscriptions',
  base: '',
  aliases: [],
  description:
    'Notifications in the browser about requests that wait for a person, and about risk alerts: to the owner’s devices and to those of invited approvers. The owner’s devices also hear when a webhook subscription is disabled.',
  operations: {
    getPushPublicKey: {
      method: 'get',
      path: '/push-subscriptions/public-key',
      summary: 'The public key that devices subscribe with',
      description: 'VAPID (RFC 8292). After a rotation, devices keep their former key until they subscribe again.',
      auth: ['key'],
      success: { status: 200, body: publicKeyOut },
      refusals: [],
    },
    createPushSubscription: {
      method: 'post',
      path: '/push-subscriptions',
      summary: 'Subscribe a device',
      description: `Takes \`PushSubscription.toJSON()\` of a browser. An endpoint that is known gets these keys and events: 200. 400 where nothing may be sent to the endpoint, as for the URL of a webhook, for keys that no browser makes, and where the owner has ${limits.devices.most} devices.`,
      auth: ['key'],
      body: z.strictObject(device).meta({ id: 'CreatePushSubscription' }),
      success: { status: 201, body: subscriptionOut, also: [200] },
      refusals: ['invalid_state'],
      fires: ['device.created', 'device.updated'],
    },
    listPushSubscriptions: {
      method: 'get',
      path: '/push-subscriptions',
      summary: 'The devices, newest first',
      description: 'The owner’s and those of invited people (`passkeyId`), without their keys.',
      auth: ['key'],
      query: z.strictObject(pageQuery('pushSubscription')),
      success: { status: 200, body: pageOut(subscriptionOut) },
      refusals: [],
    },
    deletePushSubscription: {
      method: 'delete',
      path: '/push-subscriptions/{id}',
      summary: 'Remove a device',
      description: 'It gets no more notifications; those that wait are dropped. The device itself is not told.',
      auth: ['key'],
      params: z.strictObject({ id: id('pushSubscription') }),
      success: { status: 204 },
      refusals: ['not_found'],
      fires: ['device.deleted'],
    },
    testPushSubscription: {
      method: 'post',
      path: '/push-subscriptions/{id}/test',
      summary: 'Send a test notification',
      description:
        'The worker sends it; `lastSuccessAt` says when the push service took it. Where the service does not know the device any more (404, 410), the subscription is removed.',
      auth: ['key'],
      params: z.strictObject({ id: id('pushSubscription') }),
      success: { status: 202 },
      refusals: ['not_found'],
      fires: ['device.tested'],
    },
    createDeviceChallenge: {
      method: 'post',
      path: '/enrol/{token}/devices/challenge',
      summary: 'Begin the subscription of an invited person’s device',
      description:
        'For the passkey that was enrolled with the link, bound to this endpoint. The answer also has the key to subscribe with.',
      auth: ['public'],
      params: link,
      body: z.strictObject({ endpoint }),
      success: { status: 200, body: challengeOut },
      refusals: ['invalid_state', 'not_found'],
      pure: true,
    },
    createInvitedDevice: {
      method: 'post',
      path: '/enrol/{token}/devices',
      summary: 'Subscribe an invited person’s device',
      description:
        'With an assertion by the passkey that was enrolled with the link. The device is removed together with the passkey.',
      auth: ['public'],
      params: link,
      body: z.strictObject({ ...device, webauthnAssertion }).meta({ id: 'CreateInvitedDevice' }),
      success: { status: 201, body: publicKeyOut, also: [200] },
      refusals: ['invalid_state', 'forbidden', 'not_found'],
      fires: ['device.created', 'device.updated'],
    },
    getInvitedPublicKey: {
      method: 'get',
      path: '/enrol/{token}/devices/public-key',
      summary: 'The public key that an invited person’s device subscribes with',
      auth: ['public'],
      params: link,
      success: { status: 200, body: publicKeyOut },
      refusals: ['not_found'],
    },
  },
});
