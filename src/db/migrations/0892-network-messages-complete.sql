-- The other messages of the network: increments, refunds, and advices of what the network decided by itself. A refund
-- may name no authorization.
alter table network_messages drop constraint network_messages_kind_check;
alter table network_messages add constraint network_messages_kind_check
  check (kind in ('authorization', 'increment', 'clearing', 'reversal', 'refund', 'advice'));
alter table network_messages alter column authorization_id drop not null;
alter table network_messages add constraint network_messages_authorization
  check (authorization_id is not null or kind = 'refund');
alter table transaction_events drop constraint transaction_events_kind_check;
alter table transaction_events add constraint transaction_events_kind_check
  check (kind in ('authorization', 'increment', 'clearing', 'reversal', 'refund', 'advice', 'expiry'));

-- A refund is a transaction of its own that names the one it gives back.
create index transactions_refunds on transactions (original_transaction_id) where original_transaction_id is not null;
