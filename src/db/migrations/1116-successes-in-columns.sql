-- The attempt that succeeded: the rest of it follows from the delivery, and nearly every delivery has only this one. Failed
-- attempts stay records of `attempts`, where those that succeeded before this migration stay too.
alter table webhook_deliveries
  add column success_status int,
  add column success_ms int,
  add constraint webhook_deliveries_success_check
    check ((success_status is null) = (success_ms is null) and (success_status is null or status = 'succeeded'));

-- They were there for the release that does not know what is parked (0.6.0). A trigger before an update locks each row first,
-- which writes a record to the WAL, whatever its condition says. Where that release runs again, deliveries that it ends may
-- stay parked; the sweep of the relay frees these, as it frees what waits behind them.
drop trigger webhook_deliveries_leave_parked on webhook_deliveries;
drop function leave_parked();
alter table webhook_deliveries drop constraint webhook_deliveries_parked;
