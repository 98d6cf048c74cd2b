-- A transfer that ends while the bank is still to be asked to get its money back asks nothing any more.
alter table transfers drop constraint transfers_recall_outcome_check;
update transfers set recall_outcome = case stage when 'recalled' then 'requested' else 'ended' end
where recall_outcome = 'asking'
  and (closed_at is not null or stage in ('returned', 'recalled', 'rejected', 'denied', 'expired', 'cancelled'));
alter table transfers
  add constraint transfers_recall_outcome_check check (recall_outcome in ('asking', 'requested', 'refused', 'ended')),
  add constraint transfers_recall_ends check (recall_outcome is distinct from 'asking' or (closed_at is null
    and stage not in ('returned', 'recalled', 'rejected', 'denied', 'expired', 'cancelled')));
