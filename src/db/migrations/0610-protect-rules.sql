-- Which merchants agents may pay by machine payments. `merchant` is in normalised form, as the rule compares it.
create table protect_rules (
  id text primary key,
  owner_id text not null,
  agent_id text,
  type text not null check (type in ('allow', 'deny')),
  merchant text not null check (length(merchant) between 1 and 253 and merchant = lower(merchant)),
  reason text check (length(reason) <= 500),
  request_id text not null,
  created_at timestamptz not null
);
create unique index protect_rules_once on protect_rules (owner_id, coalesce(agent_id, ''), type, merchant);
create index protect_rules_owner on protect_rules (owner_id, created_at desc, id desc);
