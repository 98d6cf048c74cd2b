-- How many records an owner may have where that differs from the limits table of src/platform/assert-limit.ts; raised with the
-- dashboard's secret.

create table owner_limits (
  owner_id text not null,
  name text not null,
  most int not null check (most > 0),
  updated_at timestamptz not null,
  primary key (owner_id, name)
);

create index passkey_challenges_open on passkey_challenges (owner_id, purpose, subject_id) where used_at is null;
