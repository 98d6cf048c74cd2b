-- A decision on an increment is of the same transaction as that on its authorization: the message says which it is of.
alter table decisions add column message_kind text not null default 'authorization'
  check (message_kind in ('authorization', 'increment'));
alter table decisions add column message_id text;
alter table decisions add constraint decisions_message check ((message_kind = 'increment') = (message_id is not null));
