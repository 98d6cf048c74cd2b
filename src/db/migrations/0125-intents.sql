create table intents (
  id text primary key,
  owner_id text not null,
  agent_id text not null,
  client_intent_id text,
  purpose text not null,
  expected_amount_cents bigint not null check (expected_amount_cents >= 0),
  expected_merchant text,
  card_id text not null,
  status text not null check (status in
    ('pending_approval', 'approved', 'denied', 'completed', 'failed', 'expired', 'cancelled')),
  recurring jsonb,
  expires_at timestamptz not null,
  -- Asked for by a charge that waits for a person: approved, it may be paid for this long.
  pay_within_minutes int check (pay_within_minutes > 0),
  policy_check jsonb not null,
  policy_version int,
  needs_attestation boolean not null default false,
  is_auto_approved boolean not null default false,
  approved_by text,
  approved_at timestamptz,
  denied_reason text,
  completed_at timestamptz,
  matched_transaction_id text,
  transaction_id text,
  verified boolean not null default false,
  request_id text not null,
  run_id text,
  version int not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (agent_id, client_intent_id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
create index intents_owner on intents (owner_id, created_at desc, id desc);
create index intents_agent on intents (agent_id, created_at desc, id desc);
-- The authorization decision looks for open intents of one agent.
create index intents_open on intents (agent_id, created_at) where status in ('pending_approval', 'approved');
