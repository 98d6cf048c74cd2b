-- Empties the addresses of at most p_limit audit rows from before that instant, and of none that is younger than 90 days
-- of business time; returns how many.
create or replace function purge_audit_addresses(p_before timestamptz, p_limit int) returns int
language plpgsql volatile security definer set search_path = public, pg_temp as $$
declare
  v_before timestamptz := (
    select least(p_before, now() + make_interval(secs => offset_ms / 1000.0) - interval '90 days') from clock);
  v_purged int;
begin
  update audit set source_address = null where id in (
    select id from audit where source_address is not null and created_at < v_before
    order by created_at limit p_limit for update skip locked);
  get diagnostics v_purged = row_count;
  return v_purged;
end $$;
