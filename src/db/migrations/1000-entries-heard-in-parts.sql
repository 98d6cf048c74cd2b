-- Which entry a transfer has heard one payment of, for what it heard before that was noted: without it a later file that
-- has the entry as a whole books its money again. A bank's own reference with a slash is taken for a payment here as
-- well; an entry that is booked with another amount than its payments sum to can be assigned by an operator.
insert into transitions (noun, row_id, cause_id, from_status, to_status, at)
  select distinct on (t.row_id, c.entry) 'transfer_entry', t.row_id, c.entry, null, 'heard', t.at
  from transitions t cross join lateral (select regexp_replace(t.cause_id, '/\d+$', '') as entry) c
  where t.noun in ('transfer', 'transfer_debit') and t.cause_id ~ '^bank:entry/(credit|debit)/.+/\d+$'
    and not exists (select from transitions e where e.noun = 'transfer_entry' and e.row_id = t.row_id
      and e.cause_id like 'bank:entry/' || split_part(t.cause_id, '/', 2) || '/%')
  order by t.row_id, c.entry, t.at
  on conflict do nothing;
