-- What an agent asks of its owner: a further card, or other limits of a card that it has.
create table card_requests (
  id text primary key,
  owner_id text not null,
  agent_id text not null references agents (id),
  type text not null check (type in ('new_card', 'limit_change')),
  -- The card to change; of a new card, the card that the approval reserved.
  card_id text references cards (id),
  status text not null check (status in ('pending', 'approved', 'denied', 'cancelled', 'expired')),
  reason text,
  usage text check (usage in ('single', 'multi')),
  purpose text,
  display_name text,
  max_transaction_cents bigint check (max_transaction_cents >= 0),
  daily_limit_cents bigint check (daily_limit_cents >= 0),
  monthly_limit_cents bigint check (monthly_limit_cents >= 0),
  granted_max_transaction_cents bigint check (granted_max_transaction_cents >= 0),
  granted_daily_limit_cents bigint check (granted_daily_limit_cents >= 0),
  granted_monthly_limit_cents bigint check (granted_monthly_limit_cents >= 0),
  decided_by text,
  decision_reason text,
  decided_at timestamptz,
  reminded_at timestamptz,
  expires_at timestamptz not null,
  request_id text not null,
  run_id text,
  version int not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (type <> 'new_card' or (usage is not null and purpose is not null)),
  check (type <> 'limit_change' or card_id is not null),
  check (status <> 'approved' or card_id is not null),
  check ((decided_at is null) = (status = 'pending'))
);
create index card_requests_owner on card_requests (owner_id, created_at desc, id desc);
create index card_requests_agent on card_requests (agent_id, created_at desc, id desc);
create index card_requests_pending on card_requests (agent_id) where status = 'pending';
