-- Who calls, and for whom: owners' API keys, agents' tokens, customers, agents.

create table customers (
  id text primary key,
  owner_id text not null constraint customers_owner unique,
  type text not null check (type in ('consumer', 'corporate')),
  email text,
  status text not null check (status in ('active', 'suspended', 'closed')),
  plan text not null check (plan in ('free', 'starter', 'business', 'enterprise')),
  default_policy jsonb,
  first_name text,
  last_name text,
  company_name text,
  date_of_birth text check (date_of_birth ~ '^\d{4}-\d{2}-\d{2}$'),
  address_line1 text,
  address_city text,
  address_postcode text,
  address_country text check (address_country ~ '^[A-Z]{2}$'),
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table agents (
  id text primary key,
  owner_id text not null,
  name text not null check (name <> ''),
  scope text,
  external_id text,
  profile jsonb,
  status text not null check (status in ('active', 'frozen', 'closed')),
  wallet_id text not null,
  funding text not null check (funding in ('wallet', 'budget')),
  -- True until the processor has issued the first card. Until then the API does not return the agent.
  is_provisioning boolean not null,
  -- The caller and the request that created it. Its first events name them, although the worker writes these events later.
  origin jsonb not null,
  version int not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index agents_owner on agents (owner_id, created_at desc, id desc);
create index agents_external on agents (owner_id, external_id, created_at desc, id desc) where external_id is not null;
create index agents_wallet on agents (wallet_id);

create table api_keys (
  id text primary key,
  owner_id text not null,
  secret_hash text not null constraint api_keys_secret unique check (secret_hash ~ '^[0-9a-f]{64}$'),
  hint text not null,
  label text,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index api_keys_owner on api_keys (owner_id, created_at desc, id desc);

-- Expiry and last use are real time, whatever the business clock says; so is the refusal of an expired token.
create table agent_tokens (
  id text primary key,
  owner_id text not null,
  agent_id text not null references agents (id),
  secret_hash text not null constraint agent_tokens_secret unique check (secret_hash ~ '^[0-9a-f]{64}$'),
  hint text not null,
  label text,
  scopes text[] not null check (cardinality(scopes) > 0),
  expires_at timestamptz,
  created_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index agent_tokens_agent on agent_tokens (agent_id, created_at desc, id desc);
create index agent_tokens_owner on agent_tokens (owner_id, created_at desc, id desc);

-- Whatever takes a credential away is heard by every process that remembers it.
create function announce_credentials() returns trigger language plpgsql as $$
begin
  perform pg_notify('bursar_credentials', '');
  return null;
end $$;
create trigger api_keys_announced after update of revoked_at, secret_hash or delete on api_keys
  for each statement execute function announce_credentials();
create trigger agent_tokens_announced after update of revoked_at, expires_at, scopes, secret_hash or delete on agent_tokens
  for each statement execute function announce_credentials();
