-- A payee that a transfer names itself has a record like a saved one, for its checks and its sealed account, and is in no
-- list.
alter table beneficiaries add column is_saved boolean not null default true;
