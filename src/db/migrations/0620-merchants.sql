-- Merchants that accept machine payments, each with the public key for which credentials are encrypted.
create table merchants (
  id text primary key,
  owner_id text not null,
  slug text not null constraint merchants_slug unique check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 63),
  name text not null check (length(name) between 1 and 120),
  encryption_jwk jsonb not null,
  -- RFC 7638. One key is one merchant's: a credential for the key names its merchant.
  key_thumbprint text not null constraint merchants_key_thumbprint unique check (length(key_thumbprint) = 43),
  webhook_url text check (length(webhook_url) <= 2048),
  status text not null check (status in ('active', 'suspended')),
  secret_hash text not null constraint merchants_secret unique check (secret_hash ~ '^[0-9a-f]{64}$'),
  hint text not null,
  -- An invite code registers one merchant.
  invite_hash text not null constraint merchants_invite unique check (invite_hash ~ '^[0-9a-f]{64}$'),
  request_id text not null,
  created_at timestamptz not null
);
create index merchants_owner on merchants (owner_id, created_at desc, id desc);
create trigger merchants_announced after update of status, secret_hash or delete on merchants
  for each statement execute function announce_credentials();
