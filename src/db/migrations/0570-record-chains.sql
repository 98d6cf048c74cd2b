-- Audit rows and decisions are sealed like journals: one chain for each kind and owner. The rows themselves do not
-- change; the sealer adds a seal within a second of the commit.

-- Records that the sealer has not reached yet, filled by a trigger on each table of records.
create table unsealed_records (
  position bigint generated always as identity primary key,
  chain text not null check (chain in ('audit', 'decisions')),
  owner_id text not null,
  record_id text not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index unsealed_records_record on unsealed_records (chain, record_id);

create table record_seals (
  chain text not null,
  owner_id text not null,
  sequence bigint not null check (sequence > 0),
  record_id text not null,
  -- The version of the rules that turn a record into its hash.
  format smallint not null check (format > 0),
  -- Salted hashes of the address and of the texts, which can be erased without breaking the chain.
  address_commitment text,
  text_commitment text,
  hash text not null check (length(hash) = 64),
  primary key (chain, owner_id, sequence),
  constraint record_seals_once unique (chain, record_id)
);

-- Deleted or emptied when the address or the texts are erased: without its salt, a commitment says nothing.
create table record_salts (
  chain text not null,
  record_id text not null,
  address_salt text,
  text_salt text,
  primary key (chain, record_id)
);

create table record_heads (
  chain text not null,
  owner_id text not null,
  sequence bigint not null,
  hash text not null,
  checkpointed_sequence bigint not null default 0,
  primary key (chain, owner_id)
) with (fillfactor = 70);
create index record_heads_moved on record_heads (owner_id) where sequence > checkpointed_sequence;

create table record_checkpoints (
  chain text not null,
  owner_id text not null,
  sequence bigint not null,
  hash text not null,
  signature text not null,
  root text not null,
  root_signature text not null,
  key_id text not null,
  -- Real time, and the name of the file outside the database.
  created_at timestamptz not null,
  primary key (chain, owner_id, sequence)
);

-- How far each chain was checked through HTTP, always up to a checkpoint; a full check ignores it.
create table record_verified (
  chain text not null,
  owner_id text not null,
  sequence bigint not null,
  primary key (chain, owner_id)
);

create trigger record_seals_append_only before update or delete on record_seals
  for each row execute function refuse_change();
create trigger record_checkpoints_append_only before update or delete on record_checkpoints
  for each row execute function refuse_change();
create trigger record_seals_not_emptied before truncate on record_seals execute function refuse_change();
create trigger record_checkpoints_not_emptied before truncate on record_checkpoints execute function refuse_change();

create function queue_audit_for_seal() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  insert into unsealed_records (chain, owner_id, record_id) select 'audit', owner_id, id from inserted;
  return null;
end $$;
create trigger audit_queued_for_seal after insert on audit referencing new table as inserted
  for each statement execute function queue_audit_for_seal();

create function queue_decisions_for_seal() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  insert into unsealed_records (chain, owner_id, record_id)
    select 'decisions', owner_id, seq::text from inserted order by seq;
  return null;
end $$;
create trigger decisions_queued_for_seal after insert on decisions referencing new table as inserted
  for each statement execute function queue_decisions_for_seal();

insert into unsealed_records (chain, owner_id, record_id) select 'audit', owner_id, id from audit order by created_at, id;
insert into unsealed_records (chain, owner_id, record_id) select 'decisions', owner_id, seq::text from decisions order by seq;
