/** Reads of push subscriptions: one, and pages. Never the keys of a device. @module */
import * as z from 'zod';
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { idValue } from '../../../db/row-values.ts';
import { firstRowOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { PageQuery } from '../../../kernel/page.ts';
import { pushKinds } from './push.rules.ts';
import './push.entity.ts';

export const subscriptionRow = z.object({
  id: idValue('pushSubscription'),
  ownerId: idValue('owner'),
  passkeyId: z.string().nullable(),
  endpoint: z.string(),
  events: z.array(z.enum(pushKinds)),
  deviceName: z.string().nullable(),
  createdAt: z.date(),
  lastSuccessAt: z.date().nullable(),
});
export type PushSubscription = Readonly<z.output<typeof subscriptionRow>>;

export const subscriptionColumns = `id, owner_id as "ownerId", passkey_id as "passkeyId", endpoint, events,
  device_name as "deviceName", created_at as "createdAt", last_success_at as "lastSuccessAt"`;

export const findPushSubscription = async (tx: Tx, id: string): Promise<PushSubscription | null> =>
  (await firstRowOf(tx, subscriptionRow, `select ${subscriptionColumns} from push_subscriptions where id = $1`, [
    id,
  ])) ?? null;

const subscriptions = list(
  (from, given: Filters<{ ownerId: string }>) =>
    from
      .selectFrom('push_subscriptions')
      .select(['id', 'ownerId', 'passkeyId', 'endpoint', 'events', 'deviceName', 'createdAt', 'lastSuccessAt'])
      .where('ownerId', '=', given('ownerId')),
  newestFirst('push_subscriptions'),
);

export const listPushSubscriptions = (tx: Tx, ownerId: string, pageQuery: PageQuery) =>
  page(tx, subscriptions, { ownerId }, pageQuery);

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly pushSubscription: PushSubscription;
  }
}
