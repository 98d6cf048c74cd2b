-- When a delivery ended that got no further attempt: its subscription takes none, or it was given up. Of the others the
-- last attempt says it. Finished deliveries are kept from their end on.
alter table webhook_deliveries
  add column ended_at timestamptz,
  add constraint webhook_deliveries_ended check (ended_at is null or lost_reason is not null);
