-- Deletes at most p_limit of the oldest events, of those from before that instant; returns how many. Of one that is
-- younger than 90 days of business time the trigger refuses the deletion. Notes for each owner how far they are gone.
create or replace function purge_events(p_before timestamptz, p_limit int) returns int
language sql volatile security definer set search_path = public, pg_temp as $$
  with oldest as (select id, created_at from events order by seq limit p_limit),
  deleted as (
    delete from events e using oldest o where e.id = o.id and o.created_at < p_before returning e.owner_id, e.seq),
  noted as (
    insert into purged_events (owner_id, through) select owner_id, max(seq) from deleted group by owner_id
    on conflict (owner_id) do update set through = greatest(purged_events.through, excluded.through))
  select count(*)::int from deleted
$$;
