-- Empties the addresses of at most p_limit audit rows from before that instant, and of none that is younger than 90 days
-- of business time; returns how many. The salts of their commitments go too: the seals of the rows stay valid, and
-- an address cannot be found by trying all addresses.
create or replace function purge_audit_addresses(p_before timestamptz, p_limit int) returns int
language plpgsql volatile security definer set search_path = public, pg_temp as $$
declare
  v_before timestamptz := (
    select least(p_before, now() + make_interval(secs => offset_ms / 1000.0) - interval '90 days') from clock);
  v_purged text[];
begin
  -- The lock of seal-records.ts: a row whose address goes while it is being sealed would keep the salt.
  perform pg_advisory_xact_lock(8400113);
  with purged as (
    update audit a set source_address = null where a.id in (
      select id from audit where source_address is not null and created_at < v_before
      order by created_at limit p_limit for update skip locked)
    returning a.id)
  select coalesce(array_agg(id), '{}') into v_purged from purged;
  update record_salts set address_salt = null where chain = 'audit' and record_id = any(v_purged);
  return cardinality(v_purged);
end $$;
