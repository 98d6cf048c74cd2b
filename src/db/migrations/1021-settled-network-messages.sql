-- An operator books a message that contradicts its authorization, or decides that it is not booked. It keeps its body and
-- why it did not fit.
alter table network_messages add column settled_as text check (settled_as in ('assigned', 'dismissed'));
alter table network_messages add column settled_reason text check (length(settled_reason) <= 500);
alter table network_messages add column settled_at timestamptz;
alter table network_messages add constraint network_messages_settled check (
  (settled_as is null) = (settled_reason is null) and (settled_as is null) = (settled_at is null)
  and (settled_as is null or unbooked_reason is not null));

create or replace view unbooked_network_messages as
  select m.adapter, m.kind, m.id, m.unbooked_reason as reason, m.authorization_id, t.id as transaction_id, t.owner_id,
    m.card_ref, c.id as card_id, coalesce(m.body ->> 'amountCents', m.body ->> 'approvedCents')::bigint as amount_cents,
    coalesce(m.body ->> 'currency', 'EUR') as currency, m.received_at
  from network_messages m
  left join transactions t on t.adapter = m.adapter and t.authorization_id = m.authorization_id
  left join cards c on c.card_ref = m.card_ref
  where m.unbooked_reason is not null and m.settled_as is null;
