/**
 * An invited person subscribes a device from the page of the invitation, without an API key: with an assertion by the
 * passkey that was enrolled with the link, bound to the endpoint. The link alone subscribes nothing.
 * @module
 */
import { createHash } from 'node:crypto';
import type { Database } from '../../db/database.ts';
import type { InvitedDevices } from '../../domains/delivery/push-subscriptions/push-subscription.routes.ts';
import {
  type SubscriptionWrites,
  subscribeDevice,
} from '../../domains/delivery/push-subscriptions/push-subscription.service.ts';
import { type Invitation, invitationBehind } from '../../domains/identity/passkey-invitations/invitation.queries.ts';
import { withAssertion } from '../../domains/identity/passkeys/assertion.service.ts';
import { ceremony, type Matter, makeChallenge, resultOf } from '../../domains/identity/passkeys/challenge.service.ts';
import { enrolledPasskeys } from '../../domains/identity/passkeys/passkey.queries.ts';
import { requestChallenge } from '../../domains/identity/passkeys/passkey.wire.ts';
import type { RelyingParty } from '../../domains/identity/passkeys/relying-party.ts';
import { DomainError } from '../../kernel/errors.ts';

type Deps = SubscriptionWrites & { readonly database: Database; readonly relyingParty: RelyingParty };

export const invitedDevices = (deps: Deps): InvitedDevices => {
  const { database, relyingParty } = deps;
  const behind = (token: string): Promise<Invitation> => invitationBehind(database.read(), token);
  return {
    assertLink: async (token) => {
      await behind(token);
    },
    challenge: async (token, endpoint, call) => {
      const invitation = await behind(token);
      const enrolled = await enrolledPasskeys(database.read(), invitation.ownerId);
      const own = enrolled.filter(({ id }) => id === invitation.passkeyId);
      if (own.length === 0) throw new DomainError('invalid_state', 'no passkey is enrolled with this link');
      const askedBy = { kind: 'link', address: call.cause.sourceAddress } as const;
      const challenge = await database.write((tx) =>
        makeChallenge(tx, call.newId('challenge'), { ...matterOf(invitation, endpoint), askedBy }),
      );
      return requestChallenge(relyingParty, challenge, own);
    },
    subscribe: async (token, { device, envelope }, call) => {
      const invitation = await behind(token);
      const matter = matterOf(invitation, device.endpoint);
      const { ownerId, id: invitationId, passkeyId } = invitation;
      const cause = { ...call.cause, actor: { kind: 'invitation', id: invitationId } } as const;
      const id = call.newId('pushSubscription');
      return resultOf(
        await database.write((tx) =>
          ceremony(tx, (effect) =>
            withAssertion(tx, effect, { relyingParty, envelope, matter }, cause, async (inner, { passkey }) => {
              if (passkey.id !== passkeyId) throw ofAnother();
              return subscribeDevice(inner, deps, { id, ownerId, passkeyId, device }, cause);
            }),
          ),
        ),
      );
    },
  };
};

const matterOf = ({ id, ownerId }: Invitation, endpoint: string): Matter => ({
  ownerId,
  purpose: 'push',
  subjectId: id,
  terms: createHash('sha256').update(endpoint).digest('base64url'),
});

const ofAnother = (): DomainError =>
  new DomainError('forbidden', 'another passkey made the assertion; use the one that was enrolled with this link');
