-- The public keys of a merchant. A key counts once the merchant has shown that it can decrypt with it, so that no one can
-- register another merchant's key; the one that was in force before counts until its overlap ends.
create table merchant_encryption_keys (
  merchant_id text not null references merchants (id),
  -- RFC 7638.
  thumbprint text not null check (length(thumbprint) = 43),
  jwk jsonb not null,
  proven_at timestamptz,
  -- Real time, like the expiry of challenges. Null: in force, or not proven.
  valid_until timestamptz,
  created_at timestamptz not null,
  primary key (merchant_id, thumbprint),
  check (valid_until is null or proven_at is not null)
);
-- A proven key is one merchant's, for good: a credential for the key names its merchant.
create unique index merchant_encryption_keys_holder on merchant_encryption_keys (thumbprint)
  where proven_at is not null;
create unique index merchant_encryption_keys_in_force on merchant_encryption_keys (merchant_id)
  where proven_at is not null and valid_until is null;

-- What was registered before counts as it did.
insert into merchant_encryption_keys (merchant_id, thumbprint, jwk, proven_at, created_at)
  select id, key_thumbprint, encryption_jwk, created_at, created_at from merchants;
alter table merchants drop column key_thumbprint, drop column encryption_jwk;

-- After a rotation of the secret key, the former one is accepted for an overlap. Real time.
alter table merchants
  add column former_secret_hash text
    constraint merchants_former_secret unique check (former_secret_hash ~ '^[0-9a-f]{64}$'),
  add column former_secret_until timestamptz,
  add constraint merchants_former_secret_ends check ((former_secret_hash is null) = (former_secret_until is null));
drop trigger merchants_announced on merchants;
create trigger merchants_announced
  after update of status, secret_hash, former_secret_hash, former_secret_until or delete on merchants
  for each statement execute function announce_credentials();
