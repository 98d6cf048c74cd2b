/** Sample calls of invitations to enrol a passkey, for the suites that cover all operations. @module */
import { passkeyInvitationsArea } from '../../../src/domains/identity/passkey-invitations/invitation.contract.ts';
import { softPasskey } from '../../support/authenticator.ts';
import { anInvitation } from '../../support/factories/invitations.ts';
import { thePasskey } from '../../support/factories/passkeys.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';

/** The link of a fresh invitation, which the owner's passkey has confirmed. */
async function freshLink(one: Sampler) {
  const { token } = await anInvitation(one.owner, { by: await one.the(thePasskey) });
  return { as: 'nobody', path: { token } } as const;
}

export const samples = samplesOf(passkeyInvitationsArea, {
  ids: {
    id: async (one) => (await anInvitation(one.owner, { by: await one.the(thePasskey) })).id,
    token: 'public',
  },
  calls: (one) => ({
    createPasskeyInvitation: async () => {
      const name = 'Anna Berg';
      const { confirmed } = await anInvitation.prepared(one.owner, { name, by: await one.the(thePasskey) });
      return { body: { name, ...confirmed } };
    },
    listPasskeyInvitations: () => ({}),
    revokePasskeyInvitation: async () => ({
      path: { id: (await anInvitation(one.owner, { by: await one.the(thePasskey) })).id },
    }),
    getEnrolment: () => freshLink(one),
    startEnrolment: () => freshLink(one),
    finishEnrolment: async () => {
      const link = await freshLink(one);
      const { challengeId, options } = await one.world
        .as('')
        .client(passkeyInvitationsArea)
        .startEnrolment({ params: link.path, body: {} });
      const attestation = softPasskey(one.world.config.publicUrl).create(options);
      return { ...link, body: { challengeId, attestation } };
    },
  }),
  actsTwice: {
    startEnrolment: 'the caller is anonymous and has no idempotency keys, and each challenge is a new one',
    finishEnrolment: 'the caller is anonymous and has no idempotency keys; a repeat is recognised by its passkey',
  },
});
