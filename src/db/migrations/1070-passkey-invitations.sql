-- Links by which a named person enrols a passkey without an API key. The token is stored as a hash only.
create table passkey_invitations (
  id text primary key,
  owner_id text not null,
  -- Of the person; the passkey gets it.
  name text not null check (name <> ''),
  token_hash text not null unique check (token_hash ~ '^[0-9a-f]{64}$'),
  -- The passkey that confirmed the invitation; null where none was enrolled then.
  vouched_by text references passkeys (id),
  created_at timestamptz not null,
  -- Real time, like the expiry of every token.
  expires_at timestamptz not null,
  revoked_at timestamptz,
  -- Business time, with the passkey that was enrolled.
  used_at timestamptz,
  passkey_id text unique references passkeys (id),
  check ((used_at is null) = (passkey_id is null)),
  check (used_at is null or revoked_at is null)
);
create index passkey_invitations_owner on passkey_invitations (owner_id, created_at, id);
create index passkey_invitations_vouched on passkey_invitations (vouched_by)
  where vouched_by is not null and revoked_at is null and used_at is null;

-- `invite`: for an invitation; `terms` hold the name of the invited person.
alter table passkey_challenges drop constraint passkey_challenges_purpose_check;
alter table passkey_challenges add constraint passkey_challenges_purpose_check
  check (purpose in ('register', 'enroll', 'revoke_passkey', 'intent', 'approval', 'generic', 'invite'));
