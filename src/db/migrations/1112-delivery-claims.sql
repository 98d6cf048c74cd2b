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
-- Plans that were made while the table had no pages would read all of it later.
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
        vacuum_truncate = off);
create index delivery_claims_leases on delivery_claims (lease_until);
create index delivery_claims_of_webhook on delivery_claims (webhook_id, lease_until);

-- The version before this one writes claims to the deliveries ('delivering' and lease_until) and knows no others, so it
-- must not run beside this one. What it leaves behind is claimed again when its lease has run out.

-- No release has these functions. With other types and the same number of arguments they would be ambiguous.
drop function if exists free_delivery_places(text[], boolean, int, int, int, int, text[], int[]);
drop function if exists first_waiting_deliveries(bigint);
drop function if exists claim_deliveries(text[], bigint[], bigint[], timestamptz, int, int, int, int, text[], int[], int,
  int);
drop function if exists claim_first_attempts(bigint, text[], bigint[], int, int, int, int, int, text[], int[], int, int);
