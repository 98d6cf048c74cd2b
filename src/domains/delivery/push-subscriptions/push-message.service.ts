/**
 * Makes the push messages that no trigger makes, claims due ones and records what became of them. A claim has a lease and
 * counts the attempts; a result that comes after another claim changes nothing.
 * @module
 */
import * as z from 'zod';
import { idValue } from '../../../db/row-values.ts';
import { rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cause } from '../../../platform/cause.ts';
import { messageKinds, type PushOutcome } from './push.rules.ts';
import { deleteGoneDevice } from './push-subscription.service.ts';

type Disabled = { readonly id: Id<'webhook'>; readonly ownerId: string; readonly detail: string };

/** To the owner's devices that get alerts. One that is being deleted is left out, so that nobody waits for it. */
export const announceDisabledWebhook = (tx: Tx, { id, ownerId, detail }: Disabled): Promise<number> =>
  runSql(
    tx,
    `insert into push_messages (subscription_id, kind, subject_id, event, detail, next_attempt_at, expires_at, created_at)
     select s.id, 'webhook', $2, 'webhook.updated', $3, clock_timestamp(), clock_timestamp() + interval '1 day',
       clock_timestamp()
     from push_subscriptions s where s.owner_id = $1 and s.passkey_id is null and 'risk' = any(s.events)
     for key share of s skip locked`,
    [ownerId, id, detail],
  );

const claimedRow = z.object({
  id: z.coerce.number().int(),
  kind: z.enum(messageKinds),
  subjectId: z.string(),
  amountEuros: z.string().nullable(),
  detail: z.string().nullable(),
  attempts: z.int(),
  expiresAt: z.date(),
  subscriptionId: idValue('pushSubscription'),
  endpoint: z.string(),
  sealedKeys: z.string(),
  publicKey: z.string(),
  sealedPrivateKey: z.string(),
});
export type ClaimedMessage = Readonly<z.output<typeof claimedRow>>;

/**
 * No two processes have the same message; one whose process died is claimed again when the lease is over. Owners take
 * turns, and each has up to `perOwner` messages under way, so that devices that hang do not delay those of another owner.
 */
export const claimPushMessages = (tx: Tx, most: number, perOwner: number): Promise<ClaimedMessage[]> =>
  rowsOf(
    tx,
    claimedRow,
    `with turns as (
       select w.id, row_number() over (
         partition by s.owner_id
         order by coalesce(w.lease_until, '-infinity') > statement_timestamp() desc, w.next_attempt_at, w.id) as turn
       from push_messages w join push_subscriptions s on s.id = w.subscription_id
       where w.next_attempt_at <= statement_timestamp()),
     due as (
       select w.id from push_messages w join turns t on t.id = w.id
       where t.turn <= $2 and w.next_attempt_at <= statement_timestamp()
         and coalesce(w.lease_until, '-infinity') <= statement_timestamp()
       order by t.turn, w.next_attempt_at limit $1 for update of w skip locked)
     update push_messages m set attempts = m.attempts + 1, lease_until = clock_timestamp() + interval '45 s'
     from due, push_subscriptions s, push_keys k
     where m.id = due.id and s.id = m.subscription_id and k.id = s.key_id
     returning m.id, m.kind, m.subject_id as "subjectId", to_char(m.amount_cents / 100.0, 'FM999999999990.00') as "amountEuros",
       m.detail, m.attempts, m.expires_at as "expiresAt", s.id as "subscriptionId", s.endpoint, s.sealed_keys as "sealedKeys",
       k.public_key as "publicKey", k.sealed_private_key as "sealedPrivateKey"`,
    [most, perOwner],
  );

/** The device is locked before its messages, as its deletion has it, so that its results come one after the other. */
export async function recordPushResult(
  tx: Tx,
  { id, attempts, subscriptionId, sealedKeys }: ClaimedMessage,
  outcome: PushOutcome,
  cause: Cause,
): Promise<void> {
  const lock = outcome.kind === 'gone' ? 'update' : 'no key update';
  await runSql(tx, `select 1 from push_subscriptions where id = $1 for ${lock}`, [subscriptionId]);
  const again = outcome.kind === 'retry' ? outcome.at : null;
  const moved = await runSql(
    tx,
    // Another message of the device may have heard meanwhile how long all have to wait.
    `update push_messages set lease_until = null, outcome = $4, next_attempt_at =
       case when $3::timestamptz is not null then greatest(next_attempt_at, $3) end
     where id = $1 and attempts = $2 and next_attempt_at is not null returning 1`,
    [id, attempts, again, outcome.kind === 'retry' ? null : outcome.kind],
  );
  if (moved === 0) return;
  if (outcome.kind === 'retry' && outcome.deviceWaitsUntil !== null) {
    await runSql(
      tx,
      `update push_messages set next_attempt_at = greatest(next_attempt_at, $3)
       where subscription_id = $1 and id <> $2 and next_attempt_at is not null`,
      [subscriptionId, id, outcome.deviceWaitsUntil],
    );
  }
  if (outcome.kind === 'gone') await deleteGoneDevice(tx, { id: subscriptionId, sealedKeys }, cause);
  if (outcome.kind !== 'delivered') return;
  await runSql(tx, 'update push_subscriptions set last_success_at = $2 where id = $1', [subscriptionId, cause.at]);
}

/** Messages are kept for a week, so that a record is not announced twice; then they go, a batch at a time. */
export const purgePushMessages = (tx: Tx): Promise<number> =>
  runSql(
    tx,
    `delete from push_messages where id in (
       select id from push_messages where next_attempt_at is null and expires_at < clock_timestamp() - interval '6 days'
       order by expires_at limit 1000 for update skip locked)`,
  );
