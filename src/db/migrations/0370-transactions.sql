-- Simulated charges of a sandbox deployment: asked of the simulated network, which then asks and tells as ever.
create table simulations (
  id text primary key,
  owner_id text not null,
  agent_id text not null,
  card_id text not null,
  -- The only intent that the charge may be paid for by.
  intent_id text,
  amount_cents bigint not null check (amount_cents > 0),
  merchant text not null check (merchant <> ''),
  mcc text not null check (mcc ~ '^\d{4}$'),
  country text not null check (country ~ '^[A-Z]{2}$'),
  wanted text not null check (wanted in ('approve', 'decline')),
  -- open: the network is asked; the others are final.
  status text not null check (status in ('open', 'done', 'refused')),
  -- Each question that the network answered without Bursar is asked anew under another key.
  attempt int not null default 1 check (attempt > 0),
  transaction_id text,
  -- Why the network did not take it.
  refusal text,
  request_id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status = 'done') = (transaction_id is not null)),
  check ((status = 'refused') = (refusal is not null))
);
create index simulations_owner on simulations (owner_id, created_at desc, id desc);
