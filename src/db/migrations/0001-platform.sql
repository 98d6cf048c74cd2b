-- The parts every area stands on: business clock, events, audit, transitions, idempotency, processes.

create table clock (
  id int primary key check (id = 1),
  offset_ms bigint not null check (offset_ms >= 0)
);
insert into clock values (1, 0);

-- Facts of the deployment that must outlive a process: the vault's check value, Temporal's epoch.
create table deployment_facts (
  name text primary key,
  value text not null
);

-- When each background loop last ended a pass well; real time, for health.
create table heartbeats (
  loop text primary key,
  succeeded_at timestamptz not null
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'integrity_constraint_violation';
end $$;

create table events (
  id text primary key,
  seq bigint generated always as identity unique,
  owner_id text not null,
  agent_id text,
  subject_id text not null,
  name text not null,
  data jsonb not null,
  request_id text not null,
  run_id text,
  created_at timestamptz not null
);
create index events_owner on events (owner_id, created_at desc, id desc);
create index events_subject on events (subject_id, seq);
create trigger events_append_only before update or delete on events for each row execute function refuse_change();

create table audit (
  id text primary key,
  owner_id text not null,
  agent_id text,
  actor text not null,
  action text not null,
  subject_id text not null,
  details jsonb not null,
  request_id text not null,
  created_at timestamptz not null
);
create index audit_owner on audit (owner_id, created_at desc, id desc);
create index audit_subject on audit (subject_id);
create trigger audit_append_only before update or delete on audit for each row execute function refuse_change();

-- Which cause changed which row. A repeat of the same cause answers `already`; another cause is evaluated anew.
create table transitions (
  noun text not null,
  row_id text not null,
  cause_id text not null,
  from_status text,
  to_status text not null,
  at timestamptz not null,
  primary key (noun, row_id, cause_id)
);

create table idempotency (
  owner_id text not null,
  agent_id text not null,
  key text not null,
  method text not null,
  path text not null,
  request_hash text not null,
  seed text not null,
  seed_ms bigint not null,
  lease_token text not null,
  lease_until timestamptz,
  status int,
  body text,
  body_is_sealed boolean not null default false,
  reveal_until timestamptz,
  reserved_at timestamptz not null default now(),
  primary key (owner_id, agent_id, key)
);
create index idempotency_age on idempotency (reserved_at);
create index idempotency_shown on idempotency (reveal_until) where body_is_sealed and body <> '';

-- One row per durable workflow that should exist. Written with the row it serves, in the same transaction.
create table processes (
  id text primary key,
  workflow text not null,
  subject_id text not null,
  owner_id text not null,
  agent_id text,
  stage text not null,
  is_open boolean not null default true,
  due_at timestamptz,
  started_epoch text,
  wanted_wake boolean not null default false,
  -- Real time. Until then one process is sending the wake; after it the wake is due again.
  waking_until timestamptz,
  retry_at timestamptz,
  created_at timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
create index processes_due on processes (due_at) where is_open and due_at is not null;
create index processes_to_start on processes (created_at) where is_open and started_epoch is null;
create index processes_started on processes (started_epoch) where is_open;
create index processes_to_wake on processes (id) where wanted_wake or waking_until is not null;
create index processes_subject on processes (subject_id);
