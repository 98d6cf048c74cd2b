-- Credentials that answer a payment challenge of a merchant, each for one intent and one card, used once.
create table mpp_credentials (
  id text primary key,
  owner_id text not null,
  agent_id text not null references agents (id),
  intent_id text not null references intents (id),
  card_id text not null references cards (id),
  -- The registered merchant, where the payee is one.
  merchant_id text,
  -- The payment that minted it; none where the caller presents the credential.
  payment_id text,
  challenge_id text not null check (length(challenge_id) between 1 and 512),
  -- The challenge as received, until the credential is minted.
  challenge jsonb,
  origin text check (length(origin) <= 2048),
  host text check (length(host) <= 255),
  recipient text check (length(recipient) <= 128),
  -- The merchant's public key.
  encryption_jwk jsonb,
  amount_cents bigint not null check (amount_cents > 0),
  currency text not null check (currency = 'EUR'),
  ceiling_cents bigint not null check (ceiling_cents > 0),
  -- SHA-256 of the payment token inside: by it an authorization names its credential.
  token_hash text constraint mpp_credentials_token unique,
  -- The header value, sealed, for the caller that asked for it; gone when the credential ends.
  sealed_credential text,
  status text not null
    check (status in ('requested', 'minted', 'consumed', 'expired', 'declined', 'refused')),
  -- Real time, like the expiry of the challenge.
  expires_at timestamptz not null,
  minted_at timestamptz,
  -- The network's authorization with the token, whatever was decided.
  authorized_at timestamptz,
  verified_at timestamptz,
  transaction_id text,
  outcome_code text,
  outcome_reason text,
  version int not null default 1,
  request_id text not null,
  run_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (status in ('requested', 'refused', 'expired') or token_hash is not null),
  check (sealed_credential is null or status = 'minted'),
  check (challenge is null or status = 'requested'),
  check (status <> 'consumed' or transaction_id is not null)
);
create unique index mpp_credentials_one_live on mpp_credentials (intent_id) where status in ('requested', 'minted');
create index mpp_credentials_intent on mpp_credentials (intent_id, created_at desc, id desc);
create index mpp_credentials_owner on mpp_credentials (owner_id, created_at desc, id desc);
create index mpp_credentials_agent on mpp_credentials (agent_id, created_at desc, id desc);
create index mpp_credentials_merchant on mpp_credentials (merchant_id, challenge_id) where merchant_id is not null;
create index mpp_credentials_transaction on mpp_credentials (transaction_id) where transaction_id is not null;
create trigger mpp_credentials_version before update on mpp_credentials for each row execute function count_version();
