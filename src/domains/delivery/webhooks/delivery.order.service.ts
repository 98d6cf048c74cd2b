/**
 * Deliveries that keep the order of their subject. Where many wait, those behind others of their subject are parked, so
 * that a claim reads as much as it may send, however much waits.
 * @module
 */
import * as z from 'zod';
import { idValue } from '../../../db/row-values.ts';
import { rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';

/** Waits for its first attempt; what is parked waits too. */
export const waitsUnparked = "d.status = 'pending' and d.attempts_made = 0 and not d.is_parked";

/** None before it of its subject is open. A claim evaluates this for each delivery that it reads. */
export const isNextOfSubject = `(d.subject_id is null or not exists (
  select from webhook_deliveries b
  where b.webhook_id = d.webhook_id and b.subject_id = d.subject_id and b.status in ('pending', 'delivering')
    and b.seq < d.seq))`;

/** `h` is the health of a receiver. So many wait, some with a subject, that a claim must not read them all. */
export const isCrowded = `exists (
    select from webhook_deliveries d
    where d.webhook_id = h.webhook_id and d.subject_id is not null and d.status in ('pending', 'delivering'))
  and exists (
    select from webhook_deliveries d where d.webhook_id = h.webhook_id and ${waitsUnparked}
    order by d.webhook_id, d.seq offset 200)`;

const lookedAtOnce = 1_000;

const lookedRow = z.object({ webhookId: idValue('webhook'), through: z.string(), parked: z.int() });
export type Looked = Readonly<z.output<typeof lookedRow>>;

/**
 * Looks at the first that wait unparked at these receivers, and parks those behind another one of their subject. The
 * caller holds the health of the receivers. Answers up to which number it looked: behind it others may wait.
 *
 * One is parked only while the nearest open one before it is locked, whose end therefore sees it parked. Waits for no
 * lock, so that it may come before and after any other.
 */
export const parkBlocked = (tx: Tx, webhookIds: readonly string[]): Promise<Looked[]> =>
  rowsOf(
    tx,
    lookedRow,
    `with looked_at as materialized (
       select w.id as webhook_id, d.id, d.subject_id, d.seq from unnest($1::text[]) as w(id) cross join lateral (
         select d.id, d.subject_id, d.seq from webhook_deliveries d
         where d.webhook_id = w.id and ${waitsUnparked} order by d.seq limit $2::int for update skip locked) d),
     blocked as materialized (
       select l.id, l.webhook_id, b.id as behind from looked_at l cross join lateral (
         select b.id from webhook_deliveries b
         where b.webhook_id = l.webhook_id and b.subject_id = l.subject_id and b.status in ('pending', 'delivering')
           and b.seq < l.seq order by b.seq desc limit 1) b),
     held as materialized (
       select array_agg(id) as ids from (
         select d.id from webhook_deliveries d
         where d.id in (select behind from blocked) and d.status in ('pending', 'delivering')
         for update skip locked) locked),
     parked as (
       update webhook_deliveries d set is_parked = true from blocked b, held
       where d.id = b.id and b.behind = any(held.ids) returning d.webhook_id)
     select l.webhook_id as "webhookId", max(l.seq)::text as through,
       (select count(*)::int from parked p where p.webhook_id = l.webhook_id) as parked
     from looked_at l group by l.webhook_id`,
    [webhookIds, lookedAtOnce],
  );

/** A delivery that is over. `seq` is the text of its number. */
export const endedInOrder = z.object({ webhookId: z.string(), subjectId: z.string(), seq: z.string() });
export type EndedInOrder = Readonly<z.output<typeof endedInOrder>>;

/**
 * In the transaction of these ends, by a statement after them: the first that is parked behind each can be claimed
 * again. Wakes the relays, because another process may wait for the next one of a subject.
 */
export async function freeNextOf(tx: Tx, ended: readonly EndedInOrder[]): Promise<void> {
  if (ended.length === 0) return;
  await runSql(
    tx,
    `update webhook_deliveries set is_parked = false where is_parked and id in (
       select n.id from unnest($1::text[], $2::text[], $3::bigint[]) as e(webhook_id, subject_id, seq)
       cross join lateral (
         select n.id from webhook_deliveries n
         where n.webhook_id = e.webhook_id and n.subject_id = e.subject_id and n.is_parked and n.seq > e.seq
         order by n.seq limit 1) n)`,
    [ended.map(({ webhookId }) => webhookId), ended.map(({ subjectId }) => subjectId), ended.map(({ seq }) => seq)],
  );
  await runSql(tx, 'select announce_deliveries()');
}
