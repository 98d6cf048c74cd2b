-- The network's ids are unique per kind of message: a clearing may have the id of its authorization.
alter table network_messages drop constraint network_messages_pkey;
alter table network_messages add primary key (adapter, id, kind);
alter table transaction_events drop constraint transaction_events_network;
alter table transaction_events add constraint transaction_events_network unique (adapter, network_id, kind);

-- Why a message is kept without being booked: it names another card than its authorization, or another currency. It
-- stays so, with its body, until an operator assigns it.
alter table network_messages add column unbooked_reason text check (unbooked_reason in ('other_card', 'other_currency'));
alter table network_messages drop constraint network_messages_check;
alter table network_messages add constraint network_messages_body
  check ((body is not null) = (is_waiting or unbooked_reason is not null) and not (is_waiting and unbooked_reason is not null));
create index network_messages_unbooked on network_messages (received_at) where unbooked_reason is not null;

-- For operators: what the network sent and nothing has booked. Contains no personal data.
create view unbooked_network_messages as
  select m.adapter, m.kind, m.id, m.unbooked_reason as reason, m.authorization_id, t.id as transaction_id, t.owner_id,
    m.card_ref, c.id as card_id, (m.body ->> 'amountCents')::bigint as amount_cents,
    coalesce(m.body ->> 'currency', 'EUR') as currency, m.received_at
  from network_messages m
  left join transactions t on t.adapter = m.adapter and t.authorization_id = m.authorization_id
  left join cards c on c.card_ref = m.card_ref
  where m.unbooked_reason is not null;

-- It has one parameter more; the file in `functions/` creates it again.
drop function if exists spending_counters(text, text, timestamptz, boolean);
