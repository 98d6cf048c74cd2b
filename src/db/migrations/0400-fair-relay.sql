-- The relay takes small batches that every workflow type and every owner has a share of. Each of its queues is an
-- index by type, owner and the time from which a row may be taken, so that a batch costs the same however many wait.

alter table processes
  -- When the relay last woke the run because it was overdue; -infinity when it was found overdue and not woken yet.
  add column rescued_at timestamptz,
  -- When Temporal was last asked whether the run still exists.
  add column checked_at timestamptz not null default now();

drop index processes_due;
drop index processes_to_start;
drop index processes_to_wake;
create index processes_due on processes (due_at, id) where is_open and due_at is not null;
create index processes_to_wake on processes (workflow, owner_id, coalesce(waking_until, '-infinity'))
  where wanted_wake or waking_until is not null;
create index processes_to_start on processes (workflow, owner_id, coalesce(retry_at, '-infinity'), due_at)
  where is_open and started_epoch is null;
create index processes_to_rescue on processes (workflow, owner_id, rescued_at)
  where is_open and rescued_at is not null and not wanted_wake;
create index processes_to_check on processes (checked_at) where is_open and started_epoch is not null;
-- What may have become overdue since the relay last looked.
create index processes_newly_due on processes (due_at)
  where is_open and due_at is not null and started_epoch is not null and rescued_at is null
    and not wanted_wake and waking_until is null;

-- The wakes that an advance of the sandbox clock requests: every open row due until `until` is marked, in the order of
-- (due_at, id), in batches. The table has one row, for the latest advance.
create table clock_wakes (
  id int primary key check (id = 1),
  until timestamptz not null,
  -- The last row that was marked.
  after_due timestamptz not null,
  after_id text not null,
  -- Rows that another transaction had locked when their turn came.
  skipped text[] not null,
  marked int not null,
  is_done boolean not null
);

-- Rate of work that all worker processes share: no process takes a turn before `next_at`. Real time.
create table relay_turns (
  name text primary key,
  next_at timestamptz not null
);
