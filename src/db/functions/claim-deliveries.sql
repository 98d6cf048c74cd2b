-- Plans of these statements are kept, and may have been made while the tables were almost empty. So each look-up names
-- the order of its index, and sorts are disabled; and each look-up by id stands in a lateral subquery with a limit,
-- which the planner neither flattens nor reorders. Otherwise a claim may read all deliveries of a receiver, or all
-- events.

-- How many attempts may begin at each of these receivers: over all processes `p_per_receiver`, or one where
-- `p_probing` attempts in a row had no answer, of first attempts none before `probe_after` (which is more than the rest of
-- a second ahead, and does not count, where the clock was set back). First attempts leave `p_for_retries` of them to retries, and one
-- process takes no more than `p_share` for them. An attempt under way counts, unless it is among `p_over_claims` and
-- `p_over`, whose values at one position belong together: these have succeeded, which is recorded soon.
create or replace function free_delivery_places(p_receivers text[], p_is_retry boolean, p_per_receiver int,
  p_for_retries int, p_share int, p_probing int, p_over_claims bigint[], p_over bigint[])
returns table (webhook_id text, places int)
language sql stable set enable_seqscan = off set enable_sort = off set enable_incremental_sort = off as $$
  select r.id, case
      when h.timeouts_in_row >= p_probing then
        case when not p_is_retry and h.probe_after between now() and now() + interval '2 seconds' then 0
          else 1 - u.requests end
      when p_is_retry then greatest(p_per_receiver - u.requests, p_for_retries - u.retries)
      else least(p_share, p_per_receiver - p_for_retries) - u.requests end
  from unnest(p_receivers) as r(id)
  cross join lateral (
    select h.timeouts_in_row, h.probe_after from webhook_health h where h.webhook_id = r.id limit 1) h
  cross join lateral (
    select count(*) filter (where (c.id, s.seq) not in (select * from unnest(p_over_claims, p_over)))::int as requests,
      count(*) filter (where c.is_retry)::int as retries
    from (
      select c.id, c.is_retry, c.seqs from delivery_claims c
      where c.webhook_id = r.id and c.lease_until > now() order by c.lease_until) c
    cross join unnest(c.seqs) as s(seq)) u
$$;

-- The numbers of the deliveries that are claimed at these receivers, also of those whose lease has run out: they can be
-- claimed again when they are released, which is done before claims. Five minutes only bound what is read of claims that
-- are over while an old transaction keeps their versions. In the order of the index, because only such a scan marks in it
-- what is over.
create or replace function claimed_deliveries(p_receivers text[]) returns table (seq bigint)
language sql stable set enable_seqscan = off set enable_sort = off set enable_incremental_sort = off as $$
  select unnest(c.seqs) from unnest(p_receivers) as r(id) cross join lateral (
    select c.seqs from delivery_claims c
    where c.webhook_id = r.id and c.lease_until > now() - interval '5 minutes' order by c.lease_until) c
$$;

-- Those of the deliveries with these numbers that are not over, through the indexes of what waits.
create or replace function open_deliveries(p_receiver text, p_seqs bigint[]) returns table (id text)
language sql stable set enable_seqscan = off set enable_sort = off set enable_incremental_sort = off as $$
  select d.id from unnest(p_seqs) as s(seq) cross join lateral (
    (select d.id from webhook_deliveries d
     where d.webhook_id = p_receiver and d.seq = s.seq
       and d.status = 'pending' and d.attempts_made = 0 and not d.is_parked limit 1)
    union all
    (select d.id from webhook_deliveries d
     where d.webhook_id = p_receiver and d.seq = s.seq and d.status = 'pending' and d.attempts_made > 0 limit 1)) d
$$;

-- Claims up to `p_most` deliveries, the oldest first of each receiver, receivers in no order: those that were never
-- attempted, with numbers from `p_from` through `p_through`, or with `p_due_until` those whose next attempt is due.
-- The caller has locked the health of the receivers by a statement before this one, so that this one sees what an
-- earlier holder of the lock claimed or ended. Null where nothing is claimed; else columns of deliveries in the order of
-- their ids, and each of their receivers and events once. An event that is not kept any more is not among these.
create or replace function claim_deliveries(p_receivers text[], p_from bigint[], p_through bigint[],
  p_due_until timestamptz, p_per_receiver int, p_for_retries int, p_share int, p_probing int,
  p_over_claims bigint[], p_over bigint[], p_most int, p_lease_ms int) returns json
language plpgsql set plan_cache_mode = force_generic_plan
  -- With many receivers, claims and what was picked are joined by a hash table. Nothing else here can be.
  set enable_seqscan = off set enable_hashjoin = on set enable_sort = off set enable_incremental_sort = off as $body$
declare
  v_claimed json;
begin
  with picked as materialized (
    select p.* from (
      select r.id, r.first, r.last, greatest(f.places, 0) as places
      from unnest(p_receivers, p_from, p_through) as r(id, first, last)
      join free_delivery_places(p_receivers, p_due_until is not null, p_per_receiver, p_for_retries, p_share, p_probing,
        p_over_claims, p_over) f on f.webhook_id = r.id
      -- The lock alone does not say whether the subscription was closed or paused before it was taken.
      cross join lateral (
        select from webhooks w where w.id = r.id and w.status = 'active' and w.deleted_at is null limit 1) w
      order by random()) r
    cross join lateral (
      (select d.id, d.seq, d.webhook_id, d.event_id, d.subject_id, d.plan, d.attempts_made, d.claims
       from webhook_deliveries d
       where p_due_until is null and d.webhook_id = r.id and d.seq between r.first and r.last
         and d.status = 'pending' and d.attempts_made = 0 and not d.is_parked
         and d.seq not in (select c.seq from claimed_deliveries(p_receivers) c)
         -- None before it of its subject is open.
         and (d.subject_id is null or (
           select b.id from webhook_deliveries b
           where b.webhook_id = d.webhook_id and b.subject_id = d.subject_id and b.status in ('pending', 'delivering')
             and b.seq < d.seq
           order by b.seq limit 1) is null)
       order by d.seq limit r.places)
      union all
      (select d.id, d.seq, d.webhook_id, d.event_id, d.subject_id, d.plan, d.attempts_made, d.claims
       from webhook_deliveries d
       where p_due_until is not null and d.webhook_id = r.id
         and d.status = 'pending' and d.attempts_made > 0 and d.next_attempt_at <= p_due_until
         and d.seq not in (select c.seq from claimed_deliveries(p_receivers) c)
       order by d.seq limit r.places)) p
    limit p_most),
  claim as (
    insert into delivery_claims (webhook_id, is_retry, lease_until, seqs)
    -- Not from the begin of the transaction, which may have waited for the health of the receiver.
    select p.webhook_id, p_due_until is not null, clock_timestamp() + p_lease_ms * interval '1 millisecond',
      array_agg(p.seq)
    from picked p group by p.webhook_id
    returning webhook_id, id),
  claimed as materialized (
    select p.id, p.seq, p.webhook_id, p.event_id, p.subject_id is not null as is_ordered, p.plan,
      p.attempts_made + 1 as attempt, p.claims + 1 as claim_count, c.id as claim
    from claim c join picked p on p.webhook_id = c.webhook_id),
  receiver as (
    select w.* from (select distinct c.webhook_id as id from claimed c) c cross join lateral (
      select * from webhooks w where w.id = c.id limit 1) w),
  event as (
    select e.* from (select distinct c.event_id as id from claimed c) c cross join lateral (
      (select e.id, e.name, e.request_id, e.run_id, e.seq, e.created_at, e.data from events e where e.id = c.id limit 1)
      union all
      (select t.id, t.name, t.request_id, t.run_id, 0, t.created_at, t.data from webhook_test_events t
       where t.id = c.id limit 1)) e)
  select json_build_object(
    'deliveries', (
      select json_build_object('id', json_agg(c.id), 'seq', json_agg(c.seq), 'webhookId', json_agg(c.webhook_id),
        'eventId', json_agg(c.event_id), 'isOrdered', json_agg(c.is_ordered), 'plan', json_agg(c.plan),
        'attempt', json_agg(c.attempt), 'claimCount', json_agg(c.claim_count), 'claim', json_agg(c.claim))
      from (select * from claimed order by id) c),
    'receivers', (
      select json_agg(json_build_object('webhookId', w.id, 'ownerId', w.owner_id, 'url', w.url,
        'sealedSecret', w.sealed_secret,
        'previousSealedSecret', case when w.previous_secret_until > now() then w.previous_sealed_secret end))
      from receiver w),
    'events', (
      select coalesce(json_agg(json_build_object('eventId', e.id, 'event', e.name, 'requestId', e.request_id,
        'runId', e.run_id, 'sequence', e.seq, 'createdAt', e.created_at, 'data', e.data)), '[]')
      from event e))
  into v_claimed where exists (select from claimed);
  return v_claimed;
end $body$;

-- Of each receiver the first delivery that waits for its first attempt, among the numbers from `p_from` on: from receiver
-- to receiver, as many steps as receivers. Without `p_with_claimed` those that are claimed do not count, for which all
-- claims are read; with it not even a table of them is made, whose size PostgreSQL estimates from the pages of all claims. The conditions are those of the index webhook_deliveries_waiting.
create or replace function first_waiting_deliveries(p_from bigint, p_with_claimed boolean)
returns table (webhook_id text, seq bigint)
language sql stable set enable_seqscan = off set enable_sort = off set enable_incremental_sort = off as $$
  with recursive all_claimed as materialized (
    select unnest(c.seqs) as seq from (
      select c.seqs from delivery_claims c
      where c.lease_until > now() - interval '5 minutes' order by c.lease_until) c),
  receiver(webhook_id, seq) as (
    (select d.webhook_id, d.seq from webhook_deliveries d
     where d.status = 'pending' and d.attempts_made = 0 and not d.is_parked and d.seq >= p_from
       and (p_with_claimed or d.seq not in (select c.seq from all_claimed c))
     order by d.webhook_id, d.seq limit 1)
    union all
    select n.webhook_id, n.seq from receiver r cross join lateral (
      select d.webhook_id, d.seq from webhook_deliveries d
      where d.status = 'pending' and d.attempts_made = 0 and not d.is_parked and d.seq >= p_from
        and (p_with_claimed or d.seq not in (select c.seq from all_claimed c)) and d.webhook_id > r.webhook_id
      order by d.webhook_id, d.seq limit 1) n)
  select webhook_id, seq from receiver
$$;

-- Claims up to `p_most` deliveries that were never attempted: numbers from `p_new_from` on of all receivers, and of
-- those in `p_older` older ones, from the number at the same position of `p_older_from` on. A receiver that another
-- claim holds is left to the next one. Nothing is claimed for a receiver for which more than `p_uncrowded` wait, some
-- of them in order; of these, those with a free place are answered as `crowded`.
create or replace function claim_first_attempts(p_new_from bigint, p_older text[], p_older_from bigint[],
  p_uncrowded int, p_per_receiver int, p_for_retries int, p_share int, p_probing int, p_over_claims bigint[],
  p_over bigint[], p_most int, p_lease_ms int, out claimed json, out crowded text[])
language plpgsql set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set enable_sort = off set enable_incremental_sort = off as $body$
declare
  v_receivers text[];
  v_from bigint[];
begin
  with waiting as materialized (
    select w.id, min(w.first) as first from (
      select r.webhook_id as id, p_new_from as first from first_waiting_deliveries(p_new_from, true) r
      union all
      select o.id, o.first from unnest(p_older, p_older_from) as o(id, first)) w
    group by w.id),
  locked as materialized (
    select r.id, r.first from waiting r cross join lateral (
      select from webhook_health h join webhooks w on w.id = h.webhook_id
      where h.webhook_id = r.id and w.status = 'active' and w.deleted_at is null
      limit 1 for update of h skip locked) h),
  looked_at as materialized (
    select l.id, l.first,
      (select d.id from webhook_deliveries d
       where d.webhook_id = l.id and d.subject_id is not null and d.status in ('pending', 'delivering')
       order by d.webhook_id, d.subject_id, d.seq limit 1) is not null
      and exists (
        select from webhook_deliveries d
        where d.webhook_id = l.id and d.status = 'pending' and d.attempts_made = 0 and not d.is_parked
          and d.seq not in (select c.seq from claimed_deliveries((select array_agg(id) from locked)) c)
        order by d.webhook_id, d.seq offset p_uncrowded) as is_crowded
    from locked l)
  select array_agg(id) filter (where not is_crowded), array_agg(first) filter (where not is_crowded),
    coalesce(array_agg(id) filter (where is_crowded), '{}')
  into v_receivers, v_from, crowded from looked_at;
  if crowded <> '{}' then
    select coalesce(array_agg(f.webhook_id), '{}') into crowded
    from free_delivery_places(crowded, false, p_per_receiver, p_for_retries, p_share, p_probing, p_over_claims,
      p_over) f
    where f.places > 0;
  end if;
  if v_receivers is null then return; end if;
  claimed := claim_deliveries(v_receivers, v_from, array_fill(9223372036854775807, array[cardinality(v_receivers)]),
    null, p_per_receiver, p_for_retries, p_share, p_probing, p_over_claims, p_over,
    -- The crowded ones have their part of what can be claimed, rounded by chance, however much waits for the others.
    floor(p_most * cardinality(v_receivers)::float8 / cardinality(v_receivers || crowded)
      + case when crowded = '{}' then 0 else random() end)::int, p_lease_ms);
end $body$;
