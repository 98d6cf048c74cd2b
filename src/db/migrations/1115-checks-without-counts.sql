-- A pattern with a count such as {8,64} takes PostgreSQL 23 us for each row, and one with + takes 2; length() counts as well.
alter table transactions
  drop constraint transactions_purse_check,
  add constraint transactions_funding_source_check check (
    funding_source ~ '^(wallet:wal|agent:ag)_[a-z0-9]+$' and length(split_part(funding_source, '_', 2)) between 8 and 64);
alter table journals
  drop constraint journals_kind_check,
  drop constraint journals_reference_type_check,
  add constraint journals_kind_check check (kind ~ '^[a-z_]+$' and length(kind) <= 40),
  add constraint journals_reference_type_check check (reference_type ~ '^[a-z_]+$' and length(reference_type) <= 40);
-- As in 1101: a list of values is one constant.
alter table webhook_deliveries
  drop constraint webhook_deliveries_status_check,
  drop constraint webhook_deliveries_check2,
  drop constraint webhook_deliveries_check3,
  drop constraint webhook_deliveries_origin_check,
  add constraint webhook_deliveries_status_check
    check (status = any ('{pending,delivering,succeeded,failed,dead}'::text[])),
  add constraint webhook_deliveries_next_attempt_check
    check ((next_attempt_at is null) = (status = any ('{succeeded,failed,dead}'::text[]))),
  add constraint webhook_deliveries_lost_check check (lost_reason is null or status = any ('{failed,dead}'::text[])),
  add constraint webhook_deliveries_origin_check check (origin = any ('{redelivery,recovery,test}'::text[]));
