-- Indexes that no query reads, and that every decision writes. Audit rows are read by their subject; what waits to be
-- sealed is read by its position, and as a whole when it is verified.
drop index audit_owner;
drop index unsealed_records_record;
