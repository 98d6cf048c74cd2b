-- Which transfer has heard a line of a bank. Asked before the line is booked as anything else.
create index transitions_bank_entry on transitions (cause_id) where cause_id like 'bank:entry/%';
