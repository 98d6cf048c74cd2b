-- An owner's WebAuthn credentials, the challenges made for them, and what of an intent they attest.

create table passkeys (
  id text primary key,
  owner_id text not null,
  name text not null check (name <> ''),
  credential_id text not null check (credential_id ~ '^[A-Za-z0-9_-]+$'),
  -- COSE.
  public_key bytea not null,
  counter bigint not null check (counter >= 0),
  transports text[] not null default '{}',
  backed_up boolean not null,
  -- Before that it attests no intent: it was enrolled after the owner's last one had gone.
  approves_from timestamptz not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- None was left when it went.
  was_last boolean not null default false check (not was_last or revoked_at is not null)
);
create unique index passkeys_credential on passkeys (credential_id) where revoked_at is null;
create index passkeys_owner on passkeys (owner_id, created_at, id);

-- Expiry and use are real time, as in every WebAuthn ceremony. A used row stays until no request can be repeated.
create table passkey_challenges (
  id text primary key,
  owner_id text not null,
  purpose text not null check (purpose in ('register', 'enroll', 'revoke_passkey', 'intent', 'generic')),
  subject_id text,
  -- Of an intent: what the person is shown, and nothing else can be approved with it.
  amount_cents bigint check (amount_cents >= 0),
  merchant text,
  -- Of a registration: what the passkey is to be called.
  name text,
  challenge text not null check (length(challenge) = 43),
  expires_at timestamptz not null,
  used_at timestamptz,
  used_cause text,
  -- The passkey that answered it; null where the answer did not hold.
  used_by text,
  check ((used_at is null) = (used_cause is null)),
  check (purpose <> 'intent' or amount_cents is not null)
);
create index passkey_challenges_age on passkey_challenges (owner_id, expires_at);

alter table intents add column attested_at timestamptz, add column attested_by text,
  add constraint intents_attested_by check ((attested_at is null) = (attested_by is null));
create index intents_attested on intents (attested_by)
  where attested_by is not null and status in ('pending_approval', 'approved');
