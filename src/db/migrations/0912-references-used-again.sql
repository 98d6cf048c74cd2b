-- A reference that the bank uses again: by day, end-to-end id and payer the second line is told from the first one. Of
-- id and account a short hash is kept, which tells lines with one reference apart and leads back to no account.
alter table bank_entries
  add column end_to_end_check text check (end_to_end_check ~ '^[0-9a-f]{8}$'),
  add column payer_check text check (payer_check ~ '^[0-9a-f]{8}$'),
  -- Nothing else has its money, so an operator may assign it.
  add column assignable boolean not null default false;
drop index bank_entries_contradiction;
create unique index bank_entries_contradiction on bank_entries
  (contradicts, direction, amount_cents, is_reversal, payment_key, booked_on, end_to_end_check, payer_check)
  nulls not distinct where contradicts is not null;
alter table bank_entries drop constraint bank_entries_check6;
alter table bank_entries add constraint bank_entries_contradicts check (contradicts is null or status in ('unbooked', 'assigned'));
update bank_entries e set assignable = true from bank_entries f
  where f.id = e.contradicts and e.direction = 'credit' and not e.is_reversal and e.amount_cents between 1 and 99999999999
    and (f.direction is distinct from 'credit' or f.amount_cents is distinct from e.amount_cents);
