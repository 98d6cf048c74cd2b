-- The sweep reads expired holds in the order of this index, a batch at a time.
drop index transactions_holds;
create index transactions_holds on transactions (hold_expires_at, id) where status = 'pending';
