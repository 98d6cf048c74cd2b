-- What an owner may do with subscriptions and deliveries: rotate the secret, send a test, deliver again, recover what
-- was missed, and empty the queue of dead letters.

-- Signs beside the new secret until then, in real time; a later rotation takes its place.
alter table webhooks
  add column previous_sealed_secret text,
  add column previous_secret_until timestamptz,
  add constraint webhooks_previous_secret check ((previous_sealed_secret is null) = (previous_secret_until is null));

alter table webhook_deliveries
  -- Why it was made, where it was not with its event.
  add column origin text check (origin in ('redelivery', 'recovery', 'test')),
  -- The call that made it: a repeat of the call finds what it made.
  add column cause_id text,
  -- When a dead letter left the queue.
  add column dismissed_at timestamptz check (dismissed_at is null or status = 'dead'),
  add constraint webhook_deliveries_cause check ((origin is null) = (cause_id is null));
create index webhook_deliveries_made_again on webhook_deliveries (webhook_id, event_id) where origin is not null;
create index webhook_deliveries_of_cause on webhook_deliveries (cause_id) where cause_id is not null;
create index webhook_deliveries_dead_letters on webhook_deliveries (owner_id, created_at desc, id desc)
  where status = 'dead' and dismissed_at is null;

-- Sample events, each made for one subscription. Apart from `events`, because no feed and no other subscription has them.
create table webhook_test_events (
  id text primary key,
  owner_id text not null,
  name text not null,
  data jsonb not null check (data @> '{"test": true}'),
  request_id text not null,
  run_id text,
  created_at timestamptz not null
);
create index webhook_test_events_of_day on webhook_test_events (owner_id, created_at);
