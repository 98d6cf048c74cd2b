/**
 * Writes of push subscriptions, each with its event in the caller's transaction. The keys of a device are sealed; a
 * device that subscribes again replaces what it said before.
 * @module
 */
import { createECDH } from 'node:crypto';
import { firstRowOf, oneRowOf, rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChanges } from '../../../events/record.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { checkUrl, type UrlRules } from '../../../outbound/address-rules.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { hasMoved, recordTransition } from '../../../platform/transitions.ts';
import type { Vault } from '../../../vault/vault.ts';
import { type PushKind, whyNotKeys } from './push.rules.ts';
import { currentPushKey, type PushKey, pushKeyOf } from './push-key.service.ts';
import { type PushSubscription, subscriptionColumns, subscriptionRow } from './push-subscription.queries.ts';

export type DeviceRules = Pick<UrlRules, 'allowedOrigins' | 'namesAllowedOrigins'>;
export type SubscriptionWrites = { readonly vault: Vault; readonly devices: DeviceRules };

export type Device = {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
  readonly events: readonly PushKind[];
  readonly deviceName?: string | undefined;
  /** The key of GET /push-subscriptions/public-key that it subscribed with; absent: see `keyOf`. */
  readonly publicKey?: string | undefined;
};

type Order = {
  readonly id: Id<'pushSubscription'>;
  readonly ownerId: Id<'owner'>;
  /** Of an invited person; null for the owner. */
  readonly passkeyId: string | null;
  readonly device: Device;
};

/**
 * `isNew` is false for an endpoint that the owner had already. An invited person replaces its own devices alone. The same
 * cause changes a device once: a repeat does not undo what was changed since.
 */
export async function subscribeDevice(
  tx: Tx,
  { vault, devices }: SubscriptionWrites,
  { id, ownerId, passkeyId, device }: Order,
  cause: Cause,
): Promise<{ readonly row: PushSubscription; readonly isNew: boolean }> {
  refuseDevice(device, devices);
  const { endpoint, keys, events, deviceName = null } = device;
  // Two requests of one device at once: the second finds the subscription of the first.
  await runSql(tx, 'select lock_limit($1, $2, $2)', ['devices', ownerId]);
  const key = await keyOf(tx, vault, device, cause.at);
  const known = await firstRowOf(
    tx,
    subscriptionRow,
    `select ${subscriptionColumns} from push_subscriptions
     where owner_id = $1 and endpoint = $2`,
    [ownerId, endpoint],
  );
  // A request is repeated, because its answer was lost: the one that made the device, or one that changed it.
  if (known?.id === id) return { row: known, isNew: true };
  if (known !== undefined && (await hasMoved(tx, 'device', known.id, cause.causeId)))
    return { row: known, isNew: false };
  if (known === undefined) {
    await assertBelowLimit(tx, 'devices', { ownerId, subject: ownerId, at: cause.at }, { isLocked: true });
  } else if (passkeyId !== null && known.passkeyId !== passkeyId) {
    throw new DomainError('invalid_state', 'this endpoint is a device of the owner or of another person');
  }
  const rowId = known?.id ?? id;
  const sealedKeys = await vault.seal(JSON.stringify(keys), deviceContext(rowId));
  const row = await oneRowOf(
    tx,
    subscriptionRow,
    `insert into push_subscriptions as s (id, owner_id, passkey_id, endpoint, sealed_keys, key_id, events, device_name, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (id) do update set passkey_id = excluded.passkey_id, sealed_keys = excluded.sealed_keys,
       key_id = case when $10 then s.key_id else excluded.key_id end, events = excluded.events, device_name = excluded.device_name
     returning ${subscriptionColumns}`,
    [
      ...[rowId, ownerId, passkeyId, endpoint, sealedKeys, key.id, [...events], deviceName, cause.at],
      device.publicKey === undefined,
    ],
  );
  const isNew = known === undefined;
  await recordTransition(tx, 'device', rowId, { from: isNew ? null : 'subscribed', to: 'subscribed' }, cause);
  await recordChanges(tx, cause, [changeOf(row, isNew ? 'created' : 'updated')]);
  return { row, isNew };
}

/** Without a key, a new device has the current one; one that is known keeps its own, to which its push service binds it. */
async function keyOf(tx: Tx, vault: Vault, { publicKey }: Device, at: Date): Promise<PushKey> {
  if (publicKey === undefined) return currentPushKey(tx, vault, at);
  const key = await pushKeyOf(tx, publicKey);
  if (key === undefined) throw new DomainError('invalid_request', 'body.publicKey: is no key of this deployment');
  return key;
}

export async function deletePushSubscription(tx: Tx, row: PushSubscription, cause: Cause): Promise<void> {
  const gone = await deleteWhere(tx, 'id = $1 and owner_id = $2', [row.id, row.ownerId], cause);
  if (gone === 0) throw notFound('push subscription', row.id); // Another request was faster.
}

/** The devices of a person whose passkey was removed. */
export const deletePushSubscriptionsOf = (tx: Tx, passkeyId: string, cause: Cause): Promise<number> =>
  deleteWhere(tx, 'passkey_id = $1', [passkeyId], cause);

/** Its push service does not know it any more. One that has subscribed again meanwhile stays. */
export const deleteGoneDevice = (
  tx: Tx,
  { id, sealedKeys }: { readonly id: string; readonly sealedKeys: string },
  cause: Cause,
): Promise<number> => deleteWhere(tx, 'id = $1 and sealed_keys = $2', [id, sealedKeys], cause);

type Condition = 'id = $1 and owner_id = $2' | 'passkey_id = $1' | 'id = $1 and sealed_keys = $2';

async function deleteWhere(tx: Tx, condition: Condition, values: readonly string[], cause: Cause): Promise<number> {
  const gone = await rowsOf(
    tx,
    subscriptionRow,
    `delete from push_subscriptions where ${condition} returning ${subscriptionColumns}`,
    [...values],
  );
  await recordChanges(
    tx,
    cause,
    gone.map((row) => changeOf(row, 'deleted')),
  );
  return gone.length;
}

/**
 * The worker sends it; the answer of the push service is on the record afterwards. The same cause sends one message. The
 * device is locked, so that of two repeats at once the second finds what the first one did.
 */
export async function testDevice(tx: Tx, row: PushSubscription, cause: Cause): Promise<void> {
  const name = [row.id, row.ownerId];
  await runSql(tx, 'select 1 from push_subscriptions where id = $1 and owner_id = $2 for no key update', name);
  if (await hasMoved(tx, 'device_test', row.id, cause.causeId)) return;
  const inserted = await runSql(
    tx,
    `insert into push_messages (subscription_id, kind, subject_id, next_attempt_at, expires_at, created_at)
     select id, 'test', id, clock_timestamp(), clock_timestamp() + interval '1 hour', clock_timestamp()
     from push_subscriptions where id = $1 and owner_id = $2`,
    name,
  );
  if (inserted === 0) throw notFound('push subscription', row.id);
  await recordTransition(tx, 'device_test', row.id, { from: null, to: 'requested' }, cause);
  await recordChanges(tx, cause, [changeOf(row, 'tested')]);
}

function refuseDevice({ endpoint, keys }: Device, rules: DeviceRules): void {
  const evaluated = checkUrl(endpoint, { ...rules, requireHttps: 'always' });
  if ('refused' in evaluated) throw new DomainError('invalid_request', `body.endpoint: ${evaluated.refused}`);
  const why = whyNotKeys(keys) ?? whyNotOnCurve(keys.p256dh);
  if (why !== undefined) throw new DomainError('invalid_request', `body.${why}`);
}

function whyNotOnCurve(p256dh: string): string | undefined {
  const pair = createECDH('prime256v1');
  pair.generateKeys();
  try {
    pair.computeSecret(p256dh, 'base64url');
    return undefined;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY') throw error;
    return 'keys.p256dh is not a point of P-256';
  }
}

export const deviceContext = (id: string): string => `push-subscription/${id}`;

/** Without the endpoint, which is an address, and the name that a person gave the device. */
const changeOf = (row: PushSubscription, what: 'created' | 'updated' | 'deleted' | 'tested'): Change => ({
  event: `device.${what}`,
  ownerId: row.ownerId,
  subjectId: row.id,
  data: {
    id: row.id,
    ownerId: row.ownerId,
    passkeyId: row.passkeyId,
    events: [...row.events],
    createdAt: row.createdAt.toISOString(),
  },
});
