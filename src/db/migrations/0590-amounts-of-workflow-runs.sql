-- The amount that a workflow run is about, for its summary; null where it is about none.
alter table workflow_runs add column amount_cents bigint check (amount_cents >= 0);
