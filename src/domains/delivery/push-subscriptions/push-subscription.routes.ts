/** Answers the push subscription operations: ask the service or the use case, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Call } from '../../../http/caller.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import { type Handlers, Reply } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import type { AssertionEnvelope, PasskeyChallenge } from '../../../http/webauthn.ts';
import { mapPage } from '../../../kernel/page.ts';
import { currentPushKey } from './push-key.service.ts';
import type { pushSubscriptionsArea } from './push-subscription.contract.ts';
import { listPushSubscriptions } from './push-subscription.queries.ts';
import {
  type Device,
  deletePushSubscription,
  type SubscriptionWrites,
  subscribeDevice,
  testDevice,
} from './push-subscription.service.ts';
import { pushSubscriptionWire } from './push-subscription.wire.ts';

export type PushDeps = SubscriptionWrites & {
  readonly database: Database;
  /** What the holder of an invitation's link may do. Each throws `not_found` for an unknown link. */
  readonly invited: InvitedDevices;
};

export type InvitedDevices = {
  readonly assertLink: (token: string) => Promise<void>;
  readonly challenge: (token: string, endpoint: string, call: Call) => Promise<PasskeyChallenge>;
  readonly subscribe: (
    token: string,
    given: { readonly device: Device; readonly envelope: AssertionEnvelope },
    call: Call,
  ) => Promise<{ readonly isNew: boolean }>;
};

export const pushHandlers = (deps: PushDeps): Handlers<typeof pushSubscriptionsArea> => {
  const { database, vault, invited } = deps;
  const publicKey = async (call: Call) => {
    const key = await inTransaction(deps, call, (tx, { at }) => currentPushKey(tx, vault, at));
    return { publicKey: key.publicKey };
  };
  return {
    getPushPublicKey: async (_input, call) => publicKey(call),
    createPushSubscription: async ({ body, own: { ownerId } }, call) => {
      const order = { id: call.newId('pushSubscription'), ownerId, passkeyId: null, device: body };
      const { row, isNew } = await inTransaction(deps, call, (tx, cause) => subscribeDevice(tx, deps, order, cause));
      return new Reply(isNew ? 201 : 200, pushSubscriptionWire(row));
    },
    listPushSubscriptions: async ({ query, own }) =>
      mapPage(await listPushSubscriptions(database.read(), own.ownerId, pageOfQuery(query)), pushSubscriptionWire),
    deletePushSubscription: async ({ records }, call) => {
      await inTransaction(deps, call, (tx, cause) => deletePushSubscription(tx, records.pushSubscription, cause));
      return undefined;
    },
    testPushSubscription: async ({ records }, call) => {
      await inTransaction(deps, call, (tx, cause) => testDevice(tx, records.pushSubscription, cause));
      return undefined;
    },
    createDeviceChallenge: ({ params, body }, call) => invited.challenge(params.token, body.endpoint, call),
    createInvitedDevice: async ({ params, body: { webauthnAssertion: envelope, ...device } }, call) => {
      const { isNew } = await invited.subscribe(params.token, { device, envelope }, call);
      return new Reply(isNew ? 201 : 200, await publicKey(call));
    },
    getInvitedPublicKey: async ({ params }, call) => {
      await invited.assertLink(params.token);
      return publicKey(call);
    },
  };
};
