-- Subscriptions with strict order per subject, and the removal of what is old.

alter table webhooks add column ordered boolean not null default false;
-- Of deliveries that keep the order of their subject; null where order does not matter.
alter table webhook_deliveries add column subject_id text;
create index webhook_deliveries_in_order on webhook_deliveries (webhook_id, subject_id, seq)
  where subject_id is not null and status in ('pending', 'delivering');

create index webhook_test_events_by_age on webhook_test_events (created_at);

-- Events never change, and only old ones are deleted, by purge_events.
create function refuse_young_deletion() returns trigger language plpgsql
  set search_path = public, pg_temp as $$
declare
  -- Business time.
  v_young timestamptz := (select now() + make_interval(secs => offset_ms / 1000.0) - interval '90 days' from clock);
begin
  if old.created_at > v_young then
    raise exception '% is append-only for 90 days: % refused', tg_table_name, tg_op
      using errcode = 'integrity_constraint_violation';
  end if;
  return old;
end $$;
drop trigger events_append_only on events;
create trigger events_append_only before update on events for each row execute function refuse_change();
create trigger events_kept before delete on events for each row execute function refuse_young_deletion();
