-- Virtual cards. The number stays with the processor; `card_ref` is what it and the network call the card.
create table cards (
  id text primary key,
  owner_id text not null,
  agent_id text not null,
  card_ref text constraint cards_ref unique,
  last4 text check (last4 ~ '^\d{4}$'),
  brand text,
  expiry_month int check (expiry_month between 1 and 12),
  expiry_year int check (expiry_year between 2000 and 2200),
  status text not null check (status in ('active', 'frozen', 'closed')),
  -- Who froze it: only the same may unfreeze it.
  frozen_by text check (frozen_by in ('card', 'agent', 'policy')),
  -- The state that the processor last confirmed; null until it has issued the card.
  told_state text check (told_state in ('active', 'frozen', 'closed')),
  usage text not null check (usage in ('single', 'multi')),
  is_primary boolean not null,
  name text not null check (name <> ''),
  display_name text,
  purpose text,
  scope text,
  max_transaction_cents bigint check (max_transaction_cents >= 0),
  daily_limit_cents bigint check (daily_limit_cents >= 0),
  monthly_limit_cents bigint check (monthly_limit_cents >= 0),
  -- True until the processor has issued the card. Until then the API does not return it.
  is_provisioning boolean not null,
  -- The caller and the request that created it. Its first events name them, although the worker writes these events later.
  origin jsonb not null,
  version int not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  closed_at timestamptz,
  check ((status = 'frozen') = (frozen_by is not null)),
  check ((status = 'closed') = (closed_at is not null)),
  check ((card_ref is null) = (told_state is null)),
  check (is_provisioning or card_ref is not null)
) with (fillfactor = 80);
create index cards_owner on cards (owner_id, created_at desc, id desc);
create index cards_agent on cards (agent_id, created_at, id);
create unique index cards_one_primary on cards (agent_id) where is_primary;
create unique index cards_name on cards (agent_id, name) where status <> 'closed';
