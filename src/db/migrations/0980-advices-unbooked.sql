-- An advice that does not fit its authorization says what the network approved. It no longer keeps the payment token.
create or replace view unbooked_network_messages as
  select m.adapter, m.kind, m.id, m.unbooked_reason as reason, m.authorization_id, t.id as transaction_id, t.owner_id,
    m.card_ref, c.id as card_id, coalesce(m.body ->> 'amountCents', m.body ->> 'approvedCents')::bigint as amount_cents,
    coalesce(m.body ->> 'currency', 'EUR') as currency, m.received_at
  from network_messages m
  left join transactions t on t.adapter = m.adapter and t.authorization_id = m.authorization_id
  left join cards c on c.card_ref = m.card_ref
  where m.unbooked_reason is not null;

update network_messages set body = body #- '{authorization,token}'
where kind = 'advice' and body #> '{authorization,token}' is not null;
