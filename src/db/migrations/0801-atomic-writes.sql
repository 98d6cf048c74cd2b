-- How many fundings an owner has had on its latest UTC day: counting the rows of the day would take longer with each.
create table funding_days (
  owner_id text primary key,
  day date not null,
  fundings int not null check (fundings >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- The function that funds compares the wallets under the locks of their accounts. The keys made each funding wait on
-- the wallets' rows as well, in another order than the closing of a wallet.
alter table fundings drop constraint fundings_wallet_id_fkey, drop constraint fundings_from_wallet_id_fkey;
