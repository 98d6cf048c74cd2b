-- Who asked for a checkout, a credential or a machine payment: what a step of the workflow does for the caller is
-- recorded as the caller's. Rows from before name no caller.
alter table checkouts add column actor jsonb not null default '{"kind": "system"}';
alter table mpp_credentials add column actor jsonb not null default '{"kind": "system"}';
alter table mpp_payments add column actor jsonb not null default '{"kind": "system"}';
