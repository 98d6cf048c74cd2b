-- Every access to a card or to a secret, granted or denied. Written by src/events/access.ts; rows are added and never
-- change.
create table access_events (
  id text primary key,
  owner_id text not null,
  agent_id text,
  card_id text,
  intent_id text,
  kind text not null check (kind in ('card_access', 'card_reveal', 'gdpr_delete', 'secret_reveal')),
  decision text not null check (decision in ('granted', 'denied')),
  rule text,
  reasons jsonb not null check (jsonb_typeof(reasons) = 'array'),
  purpose text check (length(purpose) <= 500),
  reason text check (length(reason) <= 500),
  expected_amount_cents bigint check (expected_amount_cents >= 0),
  expires_at timestamptz,
  actor text not null,
  request_id text not null,
  run_id text,
  created_at timestamptz not null,
  check (kind not in ('card_access', 'card_reveal') or (card_id is not null and agent_id is not null)),
  check (decision = 'granted' or (expires_at is null and jsonb_array_length(reasons) > 0))
);
create index access_events_owner on access_events (owner_id, created_at desc, id desc);
create index access_events_agent on access_events (agent_id, created_at desc, id desc);
create index access_events_card on access_events (card_id, created_at desc, id desc);
create trigger access_events_append_only before update or delete on access_events
  for each row execute function refuse_change();
