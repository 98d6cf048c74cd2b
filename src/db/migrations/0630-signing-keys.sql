-- Ed25519 keys of which the public half is published: of ledger checkpoints, of receipts and tokens, and of agents.
create table signing_keys (
  -- RFC 7638.
  kid text primary key check (length(kid) = 43),
  purpose text not null check (purpose in ('checkpoint', 'service', 'agent')),
  agent_id text check ((purpose = 'agent') = (agent_id is not null)),
  -- The coordinate `x` of the public key, base64url.
  public_x text not null check (length(public_x) = 43),
  -- Null for the checkpoints' key, which the database never sees.
  sealed_private_key text check ((purpose = 'checkpoint') = (sealed_private_key is null)),
  -- Published at once, signs from then on: whoever has read the set knows the key before it signs. Real time.
  active_from timestamptz not null,
  created_at timestamptz not null default clock_timestamp()
);
create unique index signing_keys_agent on signing_keys (agent_id) where purpose = 'agent';
create index signing_keys_purpose on signing_keys (purpose, active_from desc) where purpose <> 'agent';
