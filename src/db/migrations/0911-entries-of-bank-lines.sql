-- The entry of which a line is one payment: it is not booked as a whole as well.
alter table bank_entries add column entry_reference text;
create index bank_entries_entry on bank_entries (account_iban, entry_reference) where entry_reference is not null;
-- Payments without a reference of their own have that of the entry and their number.
update bank_entries set entry_reference = regexp_replace(servicer_reference, '/\d+$', '')
  where account_iban is not null and servicer_reference ~ './\d+$';
