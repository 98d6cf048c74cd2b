/** Sample calls and records of push subscriptions, for the suites that cover all operations. @module */
import { createECDH, randomBytes } from 'node:crypto';
import { pushSubscriptionsArea } from '../../../src/domains/delivery/push-subscriptions/push-subscription.contract.ts';
import { passkeyInvitationsArea } from '../../../src/domains/identity/passkey-invitations/invitation.contract.ts';
import { softPasskey } from '../../support/authenticator.ts';
import { anInvitation } from '../../support/factories/invitations.ts';
import { thePasskey } from '../../support/factories/passkeys.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';

/** As a browser makes it; nothing answers at the address. */
export function aDevice() {
  const pair = createECDH('prime256v1');
  const p256dh = pair.generateKeys().toString('base64url');
  const endpoint = `https://push.example.com/send/${randomBytes(8).toString('hex')}`;
  return { endpoint, keys: { p256dh, auth: randomBytes(16).toString('base64url') } };
}

const freshDevice = async (one: Sampler) =>
  one.client(pushSubscriptionsArea).createPushSubscription({ body: aDevice() });

/** The link of an invited person who has enrolled, with the passkey. */
async function enrolledLink(one: Sampler) {
  const { token } = await anInvitation(one.owner, { by: await one.the(thePasskey) });
  const client = one.world.as('').client(passkeyInvitationsArea);
  const soft = softPasskey(one.world.config.publicUrl);
  const { challengeId, options } = await client.startEnrolment({ params: { token }, body: {} });
  await client.finishEnrolment({
    params: { token },
    body: { challengeId, attestation: soft.create(options) as never },
  });
  return { soft, link: { as: 'nobody', path: { token } } as const };
}

export const samples = samplesOf(pushSubscriptionsArea, {
  ids: { id: async (one) => (await freshDevice(one)).id, token: 'public' },
  calls: (one) => ({
    getPushPublicKey: () => ({}),
    createPushSubscription: () => ({ body: aDevice() }),
    listPushSubscriptions: () => ({}),
    deletePushSubscription: async () => ({ path: { id: (await freshDevice(one)).id } }),
    testPushSubscription: async () => ({ path: { id: (await freshDevice(one)).id } }),
    createDeviceChallenge: async () => {
      const { link } = await enrolledLink(one);
      return { ...link, body: { endpoint: aDevice().endpoint } };
    },
    createInvitedDevice: async () => {
      const { link, soft } = await enrolledLink(one);
      const device = aDevice();
      const challenge = await one.world
        .as('')
        .client(pushSubscriptionsArea)
        .createDeviceChallenge({ params: link.path, body: { endpoint: device.endpoint } });
      return { ...link, body: { ...device, webauthnAssertion: soft.answer(challenge) } };
    },
    getInvitedPublicKey: async () => (await enrolledLink(one)).link,
  }),
  actsTwice: {
    testPushSubscription: 'its answer names no record; a test of its own repeats it',
    createDeviceChallenge: 'the caller is anonymous and has no idempotency keys, and each challenge is a new one',
    createInvitedDevice: 'the caller is anonymous and has no idempotency keys; the challenge is used up',
  },
});
