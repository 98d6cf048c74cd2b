-- Where an owner's events of that time begin, by bisection over their numbers: nothing reads events by time. Their
-- numbers and times differ in order by less than a transaction may last, for which ten minutes are left.
create or replace function first_event_since(p_owner text, p_since timestamptz) returns bigint
language plpgsql stable as $$
declare
  v_from bigint := coalesce((select e.seq from events e where e.owner_id = p_owner order by e.seq limit 1), 0);
  v_to bigint := coalesce((select e.seq from events e where e.owner_id = p_owner order by e.seq desc limit 1), -1) + 1;
  v_middle bigint;
  v_next record;
begin
  -- Those below v_from are too old; the first one from v_to on, where there is one, is not.
  while v_from < v_to loop
    v_middle := v_from + (v_to - v_from) / 2;
    select e.seq, e.created_at into v_next from events e
    where e.owner_id = p_owner and e.seq >= v_middle order by e.seq limit 1;
    if v_next.created_at < p_since - interval '10 minutes' then v_from := v_next.seq + 1;
    else v_to := v_middle;
    end if;
  end loop;
  return v_from;
end $$;

-- Of the next p_most events behind p_after, those that the subscription wants and has neither received nor waits for.
-- `last` is the number of the last event that was looked at; `more` tells whether others of before p_until may follow.
create or replace function missed_events(
  p_webhook text, p_since timestamptz, p_until timestamptz, p_after bigint, p_most int, p_cause text
) returns table (event_ids text[], names text[], last bigint, more boolean) language sql stable as $$
  -- Owner and first number are scalar subqueries, so that the index bounds the read, whatever the planner expects.
  with looked_at as materialized (
    select e.id, e.name, e.seq, e.created_at from events e
    where e.owner_id = (select w.owner_id from webhooks w where w.id = p_webhook)
      and e.seq > greatest(p_after,
        (select first_event_since(w.owner_id, p_since) - 1 from webhooks w where w.id = p_webhook))
    order by e.seq limit p_most),
  missed as (
    select e.* from looked_at e join webhooks w on w.id = p_webhook
    where e.created_at >= p_since and e.created_at < p_until and w.events && array[e.name, '*']
      -- A delivery that was made with its event has the event's time, so that the index of the list finds it.
      and not exists (
        select from webhook_deliveries d
        where d.webhook_id = w.id and d.created_at = e.created_at and d.event_id = e.id and d.origin is null
          and d.status in ('pending', 'delivering', 'succeeded'))
      and not exists (
        select from webhook_deliveries d where d.webhook_id = w.id and d.event_id = e.id and d.origin is not null
          and (d.status in ('pending', 'delivering', 'succeeded') or d.cause_id = p_cause)))
  select coalesce(array_agg(m.id order by m.seq), '{}'), coalesce(array_agg(m.name order by m.seq), '{}'),
    coalesce((select max(seq) from looked_at), p_after),
    (select count(*) from looked_at) = p_most
      and (select created_at from looked_at order by seq desc limit 1) < p_until + interval '10 minutes'
  from missed m
$$;
