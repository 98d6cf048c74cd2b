-- Spending rules: templates (no agent) and the one effective policy of each agent. Null and empty mean "no such rule".
create table policies (
  id text primary key,
  owner_id text not null,
  agent_id text constraint policies_agent unique,
  version int not null default 1 check (version > 0),
  name text not null check (name <> ''),
  max_transaction_cents bigint check (max_transaction_cents >= 0),
  daily_limit_cents bigint check (daily_limit_cents >= 0),
  monthly_limit_cents bigint check (monthly_limit_cents >= 0),
  auto_approve_limit_cents bigint check (auto_approve_limit_cents >= 0),
  merchant_allowlist text[] not null default '{}',
  merchant_blocklist text[] not null default '{}',
  mcc_categories text[] not null default '{}',
  allowed_mccs text[] not null default '{}',
  blocked_mccs text[] not null default '{}',
  allowed_countries text[] not null default '{}',
  lock_to_first_merchant boolean not null default false,
  cooldown_minutes int check (cooldown_minutes >= 0),
  require_intent boolean not null default true,
  require_attestation boolean not null default false,
  attestation_window_minutes int check (attestation_window_minutes >= 1),
  expires_after_minutes int check (expires_after_minutes >= 1),
  expiration_action text not null default 'freeze' check (expiration_action in ('freeze', 'close', 'notify')),
  active_hours_start int check (active_hours_start between 0 and 23),
  active_hours_end int check (active_hours_end between 0 and 23),
  max_usage_count int check (max_usage_count >= 1),
  amount_tolerance_percent numeric check (amount_tolerance_percent >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  removed_at timestamptz
);
create index policies_owner on policies (owner_id, created_at desc, id desc);
create index policies_templates on policies (owner_id, created_at desc, id desc) where agent_id is null;
