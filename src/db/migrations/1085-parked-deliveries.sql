-- In an ordered subscription a delivery may wait behind many others of its subject. Once there are many, the claim
-- parks those behind, so that it reads what can be sent and not what waits. The end of a delivery takes the first one
-- that is parked behind it out again.
alter table webhook_deliveries
  add column is_parked boolean not null default false,
  add constraint webhook_deliveries_parked check (
    not is_parked or (status = 'pending' and attempts_made = 0 and subject_id is not null));
drop index webhook_deliveries_waiting;
create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, seq)
  where status = 'pending' and attempts_made = 0 and not is_parked;
create index webhook_deliveries_parked on webhook_deliveries (webhook_id, subject_id, seq) where is_parked;

-- The version before this one claims and ends deliveries without regard to parking, and must be able to go on with this
-- table: a delivery that is claimed or over is not parked, whoever claims or ends it.
create function leave_parked() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  new.is_parked := false;
  return new;
end $$;
create trigger webhook_deliveries_leave_parked before update on webhook_deliveries for each row
  when (new.is_parked and (new.status <> 'pending' or new.attempts_made > 0)) execute function leave_parked();
