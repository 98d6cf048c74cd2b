-- Deletes at most p_limit of the oldest events, of those from before that instant; returns how many. Of one that is
-- younger than 90 days of business time the trigger refuses the deletion.
create or replace function purge_events(p_before timestamptz, p_limit int) returns int
language sql volatile security definer set search_path = public, pg_temp as $$
  with oldest as (select id, created_at from events order by seq limit p_limit),
  deleted as (delete from events e using oldest o where e.id = o.id and o.created_at < p_before returning 1)
  select count(*)::int from deleted
$$;
