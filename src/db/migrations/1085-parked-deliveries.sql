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
