/**
 * Deliveries that keep the order of their subject. Where many wait, those behind others of their subject are parked, so
 * that a claim reads as much as it may send, however much waits.
 * @module
 */
import * as z from 'zod';
import { idValue } from '../../../db/row-values.ts';
import { oneRowOf, rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { isNotUnderWay } from './delivery.lease.service.ts';

/** Waits for its first attempt, or is under way to it; what is parked waits too. */
export const waitsUnparked = "d.status = 'pending' and d.attempts_made = 0 and not d.is_parked";

/** Waits for another attempt, or is under way to it. */
export const waitsForRetry = "d.status = 'pending' and d.attempts_made > 0";

/** Where more wait, some with a subject, a claim must not read them all. */
export const mostUncrowded = 200;

/** Of all crowded receivers together; each gets some, so that one claim ends soon however many are crowded. */
const lookedAtOnce = 1_000;
const fewestLookedAt = 50;

const lookedRow = z.object({ webhookId: idValue('webhook'), through: z.string(), parked: z.int() });
export type Looked = Readonly<z.output<typeof lookedRow>>;

/**
 * Looks at the first that wait unparked at these receivers, and parks those behind another one of their subject. The
 * caller holds the health of the receivers. Answers up to which number it looked: behind it others may wait.
 *
 * One is parked only while the nearest open one before it is locked, whose end therefore sees it parked. Locks only what
 * is behind another one, and waits for no lock, so that it may come before and after any other. `limit 1` keeps the
 * conditions out of the look-ups by id, which otherwise may read a whole partial index for each row.
 */
export const parkBlocked = (tx: Tx, webhookIds: readonly string[]): Promise<Looked[]> =>
  rowsOf(
    tx,
    lookedRow,
    `with looked_at as materialized (
       select w.id as webhook_id, d.id, d.subject_id, d.seq from unnest($1::text[]) as w(id) cross join lateral (
         select d.id, d.subject_id, d.seq from webhook_deliveries d
         where d.webhook_id = w.id and ${waitsUnparked} and ${isNotUnderWay('d', '$1::text[]')} order by d.seq limit $2::int) d),
     blocked as materialized (
       select l.id, b.id as behind from looked_at l cross join lateral (
         select b.id from webhook_deliveries b
         where b.webhook_id = l.webhook_id and b.subject_id = l.subject_id and b.status in ('pending', 'delivering')
           and b.seq < l.seq order by b.seq desc limit 1) b),
     held as materialized (
       select b.id from blocked b cross join lateral (
         select d.status from webhook_deliveries d where d.id = b.behind limit 1 for update skip locked) d
       where d.status in ('pending', 'delivering')),
     free as materialized (
       select h.id from held h cross join lateral (
         select d.status, d.attempts_made, d.is_parked from webhook_deliveries d
         where d.id = h.id limit 1 for update skip locked) d
       where ${waitsUnparked}),
     parked as (
       update webhook_deliveries d set is_parked = true where d.id = any((select array_agg(id) from free)::text[])
       returning d.webhook_id),
     parked_of as materialized (select webhook_id, count(*)::int as count from parked group by webhook_id)
     select l.webhook_id as "webhookId", l.through, coalesce(p.count, 0) as parked
     from (select webhook_id, max(seq)::text as through from looked_at group by webhook_id) l
     left join parked_of p on p.webhook_id = l.webhook_id`,
    [webhookIds, Math.max(fewestLookedAt, Math.floor(lookedAtOnce / webhookIds.length))],
  );

/** A delivery that is over. `seq` is the text of its number. */
export const endedInOrder = z.object({ webhookId: z.string(), subjectId: z.string(), seq: z.string() });
export type EndedInOrder = Readonly<z.output<typeof endedInOrder>>;

/**
 * In the transaction of these ends, by a statement after them: the first that is parked behind each can be claimed
 * again. Wakes the relays, because another process may wait for the next one of a subject. With `skip locked` it waits
 * for nothing: another end holds a locked one and frees or ends it; should it fail, `freeForgotten` finds what is left.
 */
export async function freeNextOf(
  tx: Tx,
  ended: readonly EndedInOrder[],
  locked: '' | 'skip locked' = '',
): Promise<void> {
  if (ended.length === 0) return;
  await runSql(
    tx,
    `with next as materialized (
       select n.id from unnest($1::text[], $2::text[], $3::bigint[]) as e(webhook_id, subject_id, seq)
       cross join lateral (
         select n.id from webhook_deliveries n
         where n.webhook_id = e.webhook_id and n.subject_id = e.subject_id and n.is_parked and n.status = 'pending'
           and n.seq > e.seq
         order by n.seq limit 1) n),
     free as materialized (
       select n.id from next n cross join lateral (
         select d.is_parked from webhook_deliveries d where d.id = n.id limit 1 for update ${locked}) d
       where d.is_parked)
     update webhook_deliveries set is_parked = false where id = any((select array_agg(id) from free)::text[])`,
    [ended.map(({ webhookId }) => webhookId), ended.map(({ subjectId }) => subjectId), ended.map(({ seq }) => seq)],
  );
  await runSql(tx, 'select announce_deliveries()');
}

const subjectRow = z.object({ webhookId: z.string(), subjectId: z.string() });
/** Subjects of all receivers in one order. */
export type SubjectPlace = Readonly<z.output<typeof subjectRow>>;
export const firstSubject: SubjectPlace = { webhookId: '', subjectId: '' };

const freedRow = z.object({ freed: z.int(), last: subjectRow.nullable() });
export type Freed = { readonly freed: number; readonly next: SubjectPlace };

/**
 * Looks at up to `most` subjects with parked deliveries, those after `after`, and frees the first one that waits parked where
 * none before it is open: those before may have ended without `freeNextOf`. What a version that does not park has ended
 * stays parked; that is cleared, up to 1,000 of a subject. Answers where the next call goes on, at the end the first subject.
 * Waits for no lock.
 */
export async function freeForgotten(tx: Tx, after: SubjectPlace, most: number): Promise<Freed> {
  const { freed, last } = await oneRowOf(tx, freedRow, forgotten, [after.webhookId, after.subjectId, most]);
  if (freed > 0) await runSql(tx, 'select announce_deliveries()');
  return { freed, next: last ?? firstSubject };
}

/** From subject to subject through the index of what is parked. */
const forgotten = `with recursive subject(webhook_id, subject_id, place) as (
    (select d.webhook_id, d.subject_id, 1 from webhook_deliveries d
     where d.is_parked and (d.webhook_id, d.subject_id) > ($1, $2) order by d.webhook_id, d.subject_id, d.seq limit 1)
    union all
    select n.webhook_id, n.subject_id, s.place + 1 from subject s cross join lateral (
      select d.webhook_id, d.subject_id from webhook_deliveries d
      where d.is_parked and (d.webhook_id, d.subject_id) > (s.webhook_id, s.subject_id)
      order by d.webhook_id, d.subject_id, d.seq limit 1) n
    where s.place < $3::int),
  -- Those that are over are the first of their subject.
  over as materialized (
    select o.id from subject s cross join lateral (
      select d.status from webhook_deliveries d
      where d.webhook_id = s.webhook_id and d.subject_id = s.subject_id and d.is_parked order by d.seq limit 1) f
    cross join lateral (
      select d.id, d.status from webhook_deliveries d
      where d.webhook_id = s.webhook_id and d.subject_id = s.subject_id and d.is_parked order by d.seq limit 1000) o
    where f.status <> 'pending' and o.status <> 'pending'),
  cleared as (
    update webhook_deliveries d set is_parked = false where d.id = any(array(
      select h.id from over o cross join lateral (
        select d.id from webhook_deliveries d where d.id = o.id limit 1 for update skip locked) h))),
  alone as materialized (
    select f.id from subject s cross join lateral (
      select d.id, d.webhook_id, d.subject_id, d.seq from webhook_deliveries d
      where d.webhook_id = s.webhook_id and d.subject_id = s.subject_id and d.is_parked and d.status = 'pending'
      order by d.seq limit 1) f
    where not exists (
      select from webhook_deliveries b
      where b.webhook_id = f.webhook_id and b.subject_id = f.subject_id and b.status in ('pending', 'delivering')
        and b.seq < f.seq)),
  free as materialized (
    select a.id from alone a cross join lateral (
      select d.is_parked from webhook_deliveries d where d.id = a.id limit 1 for update skip locked) d
    where d.is_parked),
  freed as (
    update webhook_deliveries d set is_parked = false where d.id = any((select array_agg(id) from free)::text[])
    returning d.id)
  select (select count(*)::int from freed) as freed,
    (select jsonb_build_object('webhookId', s.webhook_id, 'subjectId', s.subject_id)
     from subject s where s.place = $3::int) as last`;
