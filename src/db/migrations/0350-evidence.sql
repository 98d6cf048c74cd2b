-- What an owner or agent keeps as proof of a payment. Addresses are stored as given, and never dialled.
create table evidence (
  id text primary key,
  owner_id text not null,
  agent_id text not null,
  intent_id text not null,
  type text not null check (type in ('receipt', 'screenshot', 'invoice', 'confirmation', 'other')),
  description text check (length(description) <= 2000),
  url text check (length(url) <= 2048),
  amount_cents bigint check (amount_cents >= 0),
  merchant text check (length(merchant) <= 200),
  request_id text not null,
  created_at timestamptz not null
);
create index evidence_intent on evidence (intent_id, created_at, id);
