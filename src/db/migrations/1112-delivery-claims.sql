-- The deliveries that a process sends now, those of one claim at one receiver in a row. A delivery itself is not written
-- when it is claimed. Until the lease runs out nobody else may claim them.
create table delivery_claims (
  webhook_id text not null,
  -- Names the claim: a result counts while the claim has its delivery.
  id bigint generated always as identity,
  is_retry boolean not null,
  -- Real time.
  lease_until timestamptz not null,
  -- Numbers of deliveries. Each leaves with its result; a claim without any is deleted.
  seqs bigint[] not null check (seqs <> '{}'),
  primary key (webhook_id, id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- The version before this one writes claims to the deliveries: 'delivering' and lease_until. What it leaves behind is
-- claimed again when its lease has run out.
