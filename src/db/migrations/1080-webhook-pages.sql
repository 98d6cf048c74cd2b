-- The page that shows a person how one webhook subscription is doing.

-- Its link, one for each subscription: another one takes its place. The token is stored as a hash only.
create table webhook_page_links (
  webhook_id text primary key references webhooks (id),
  owner_id text not null,
  token_hash text not null unique check (token_hash ~ '^[0-9a-f]{64}$'),
  -- Of the request that made it: only a repeat of this one may put another token in its place without an event.
  cause_id text not null,
  -- Business time.
  created_at timestamptz not null,
  -- Real time, like the expiry of every token.
  expires_at timestamptz not null
);

-- What came of the attempts that began in one hour of business time. Read in place of the attempts themselves: a week of
-- a busy subscription has a million of them.
create table webhook_hours (
  webhook_id text not null,
  hour timestamptz not null check (hour = date_trunc('hour', hour, 'UTC')),
  attempts int not null check (attempts > 0),
  failures int not null check (failures between 0 and attempts),
  -- Attempts with an answer, how long these took together, and the slowest of them.
  answered int not null check (answered between 0 and attempts),
  answer_ms bigint not null check (answer_ms >= slowest_ms),
  slowest_ms int not null check (slowest_ms >= 0),
  primary key (webhook_id, hour)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);
create index webhook_hours_by_age on webhook_hours (hour);

with business as (
  select now() + make_interval(secs => offset_ms / 1000.0) - interval '8 days' as earliest from clock)
insert into webhook_hours (webhook_id, hour, attempts, failures, answered, answer_ms, slowest_ms)
select d.webhook_id, date_trunc('hour', a.at, 'UTC'), count(*), count(a.error), count(a."responseMs"),
       coalesce(sum(a."responseMs"), 0), coalesce(max(a."responseMs"), 0)
from business
join webhook_deliveries d on d.created_at > business.earliest
cross join lateral jsonb_to_recordset(d.attempts) as a(at timestamptz, "responseMs" int, error text)
group by 1, 2;

-- The newest dead letters of one subscription, however many have left the queue.
create index webhook_deliveries_dead_letters_of_webhook on webhook_deliveries (webhook_id, created_at desc, id desc)
  where status = 'dead' and dismissed_at is null;
