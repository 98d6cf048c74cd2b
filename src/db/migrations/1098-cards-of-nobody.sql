-- What the network moved for a card that nobody has waits for an operator like a message that contradicts its
-- authorization. It keeps its body, but is booked: in suspense. An advice of such a card moved nothing.
alter table network_messages drop constraint network_messages_unbooked_reason_check;
alter table network_messages add constraint network_messages_unbooked_reason_check
  check (unbooked_reason in ('other_card', 'other_currency', 'unknown_card'));

-- What came before is known by its journal alone, which names the amount.
update network_messages m set unbooked_reason = 'unknown_card', body = jsonb_strip_nulls(jsonb_build_object(
    'id', m.id, 'authorizationId', m.authorization_id, 'cardRef', m.card_ref, 'amountCents', abs(l.amount_cents),
    'final', case m.kind when 'clearing' then true end))
  from journals j join ledger_entries l on l.journal_id = j.id and l.account = 'external:cards:own_operator'
  where j.owner_id = 'own_operator' and j.reference_type = 'adjustment' and j.reference_id = m.id
    and j.kind = m.kind and j.cause = m.kind || ':' || m.adapter || ':' || m.id
    and m.kind in ('clearing', 'refund') and m.transaction_id is null and not m.is_waiting and m.unbooked_reason is null;

-- For the metric that counts what waits for an operator.
create index network_messages_unsettled on network_messages (unbooked_reason)
  where unbooked_reason is not null and settled_as is null;
