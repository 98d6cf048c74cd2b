-- The link under which a person may look at a waiting intent: found by its hash, shown again from its seal.
create table approval_links (
  token_hash text primary key check (token_hash ~ '^[0-9a-f]{64}$'),
  intent_id text not null unique references intents (id),
  sealed_token text not null,
  created_at timestamptz not null
);
