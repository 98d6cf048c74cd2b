-- Devices that get push messages (RFC 8030), the keys that sign these messages (VAPID, RFC 8292), and the messages.
create table push_keys (
  id bigint generated always as identity primary key,
  public_key text not null unique check (public_key ~ '^[A-Za-z0-9_-]{87}$'),
  sealed_private_key text not null,
  -- New subscriptions belong to this one; a device keeps the key that it subscribed with.
  is_current boolean not null,
  created_at timestamptz not null
);
create unique index push_keys_current on push_keys (is_current) where is_current;

create table push_subscriptions (
  id text primary key,
  owner_id text not null,
  -- Of an invited person; null for a device of the owner.
  passkey_id text references passkeys (id),
  endpoint text not null check (endpoint ~ '^https://[!-~]+$' and length(endpoint) <= 2000),
  -- The device's public key and its shared secret.
  sealed_keys text not null,
  key_id bigint not null references push_keys (id),
  events text[] not null check (events <@ array['approval', 'risk'] and cardinality(events) > 0),
  device_name text,
  created_at timestamptz not null,
  last_success_at timestamptz
);
create unique index push_subscriptions_endpoint on push_subscriptions (owner_id, endpoint);
create index push_subscriptions_owner on push_subscriptions (owner_id, created_at, id);
create index push_subscriptions_passkey on push_subscriptions (passkey_id) where passkey_id is not null;

-- Times are real: a push service counts the life of a message in real time.
create table push_messages (
  id bigint generated always as identity primary key,
  subscription_id text not null references push_subscriptions (id) on delete cascade,
  kind text not null check (kind in ('approval', 'risk', 'test')),
  subject_id text not null,
  event text,
  amount_cents bigint check (amount_cents >= 0),
  -- Grows with each claim: the fencing token of its result.
  attempts int not null default 0 check (attempts >= 0),
  lease_until timestamptz,
  -- Null once nothing more is sent.
  next_attempt_at timestamptz,
  expires_at timestamptz not null,
  outcome text check ((outcome is null) = (next_attempt_at is not null)),
  created_at timestamptz not null
);
create index push_messages_due on push_messages (next_attempt_at) where next_attempt_at is not null;
create index push_messages_done on push_messages (expires_at) where next_attempt_at is null;
-- A record that waits is announced once to each device.
create unique index push_messages_approval on push_messages (subscription_id, subject_id) where kind = 'approval';
create index push_messages_subscription on push_messages (subscription_id);

-- What it does stands in `functions/`.
create function announce_to_devices() returns trigger language plpgsql as $$ begin return null; end $$;
create trigger events_announced after insert on events for each row
  when (new.name in ('intent.created', 'card_request.created', 'transfer.created', 'transfer.updated',
    'transfer.split.created', 'transfer.split.updated', 'risk.alert_created', 'risk.review_required',
    'risk.agent_frozen', 'risk.denied', 'risk.velocity_alert', 'risk.geo_impossible'))
  execute function announce_to_devices();

-- `push`: for a device of an invited person; `terms` hold a digest of its endpoint.
alter table passkey_challenges drop constraint passkey_challenges_purpose_check;
alter table passkey_challenges add constraint passkey_challenges_purpose_check
  check (purpose in ('register', 'enroll', 'revoke_passkey', 'intent', 'approval', 'generic', 'invite', 'push'));
