-- Who must hear: webhook subscriptions, and one delivery for each event that a subscription wants, made in the
-- transaction of the event by a trigger, so that no event is ever without its deliveries.

create table webhooks (
  id text primary key,
  owner_id text not null,
  url text not null check (length(url) <= 2048),
  -- Names, or '*' alone.
  events text[] not null check (cardinality(events) > 0),
  description text,
  status text not null check (status in ('active', 'paused', 'disabled')),
  disabled_reason text check (disabled_reason is null or status = 'disabled'),
  -- Wiped when the subscription is deleted.
  sealed_secret text,
  hint text not null,
  -- The plan of an owner who is not a customer yet; depends on the deployment's mode.
  assumed_plan text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  check (sealed_secret is not null or deleted_at is not null)
);
create index webhooks_owner on webhooks (owner_id, created_at desc, id desc) where deleted_at is null;

-- How a receiver has been doing. Apart from its subscription, because it changes with deliveries; locked while
-- deliveries to it are claimed, so that two claims together never exceed its free places.
create table webhook_health (
  webhook_id text primary key references webhooks (id),
  failures_in_row int not null default 0 check (failures_in_row >= 0),
  timeouts_in_row int not null default 0 check (timeouts_in_row >= 0),
  -- Business time of the first failure after the last success.
  failing_since timestamptz
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);

-- No foreign keys: rows are made by the trigger below from rows that are never deleted, on the path of every change.
create table webhook_deliveries (
  id text primary key,
  seq bigint generated always as identity,
  webhook_id text not null,
  owner_id text not null,
  event_id text not null,
  event text not null,
  -- The plan at the time of the event decides attempts and dead letters (delivery.rules.ts).
  plan text not null,
  status text not null check (status in ('pending', 'delivering', 'succeeded', 'failed', 'dead')),
  -- Attempts whose outcome is known.
  attempts_made int not null default 0 check (attempts_made >= 0),
  -- Grows with each claim: the fencing token, and the number in X-Service-Delivery-Id.
  claims int not null default 0 check (claims >= attempts_made),
  -- Real time; set exactly while a process delivers.
  lease_until timestamptz check ((lease_until is not null) = (status = 'delivering')),
  -- Business time; null once final.
  next_attempt_at timestamptz check ((next_attempt_at is null) = (status in ('succeeded', 'failed', 'dead'))),
  -- One object per known attempt, oldest first.
  attempts jsonb not null default '[]',
  -- Why it ended without another attempt: the subscription was deleted or disabled.
  lost_reason text check (lost_reason is null or status in ('failed', 'dead')),
  created_at timestamptz not null,
  delivered_at timestamptz check ((delivered_at is not null) = (status = 'succeeded'))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
        autovacuum_analyze_scale_factor = 0.05);
create index webhook_deliveries_list on webhook_deliveries (webhook_id, created_at desc, id desc);
create index webhook_deliveries_lost on webhook_deliveries (webhook_id, created_at desc, id desc)
  where status in ('failed', 'dead');
-- The only two with seq: an order by webhook_id, seq cannot be had from an index that holds what is over.
create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, seq)
  where status = 'pending' and attempts_made = 0;
create index webhook_deliveries_retrying on webhook_deliveries (webhook_id, seq)
  where status = 'pending' and attempts_made > 0;
create index webhook_deliveries_under_way on webhook_deliveries (webhook_id, lease_until)
  where status = 'delivering';

-- 26 lower-case Crockford characters of a UUIDv7, as kernel/ids.ts makes them.
create function new_time_ordered_id(prefix text) returns text language sql volatile as $$
  select prefix || '_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + substring(bits from i * 5 + 1 for 5)::bit(5)::int, 1), '' order by i)
  from (select B'00' || ('x' || replace(uuidv7()::text, '-', ''))::bit(128) as bits) as id, generate_series(0, 25) as i
$$;

-- PostgreSQL serializes the commits of transactions that send a notification. So only one of several concurrent
-- transactions sends it; the others commit without. The relay also polls, so no delivery is missed.
create function announce_deliveries() returns void language plpgsql as $$
begin
  if pg_try_advisory_xact_lock(8400200) then perform pg_notify('bursar_deliveries', ''); end if;
end $$;

create function fan_out_events() returns trigger language plpgsql as $$
begin
  insert into webhook_deliveries (id, webhook_id, owner_id, event_id, event, plan, status, next_attempt_at, created_at)
  select new_time_ordered_id('whd'), w.id, e.owner_id, e.id, e.name,
         coalesce((select c.plan from customers c where c.owner_id = e.owner_id), w.assumed_plan),
         'pending', e.created_at, e.created_at
  from inserted e
  join webhooks w on w.owner_id = e.owner_id and w.deleted_at is null and w.status = 'active'
                 and w.events && array[e.name, '*']
  order by e.seq, w.id;
  if found then perform announce_deliveries(); end if;
  return null;
end $$;
create trigger events_fanned_out after insert on events referencing new table as inserted
  for each statement execute function fan_out_events();
