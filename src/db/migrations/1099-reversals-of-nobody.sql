-- A reversal of a card that nobody has waits for its payment like any, because an operator may yet open one, and for an
-- operator meanwhile.
alter table network_messages drop constraint network_messages_body;
alter table network_messages add constraint network_messages_body
  check ((body is not null) = (is_waiting or unbooked_reason is not null)
    and not (is_waiting and unbooked_reason is not null and (unbooked_reason <> 'unknown_card' or settled_as is not null)));

update network_messages m set unbooked_reason = 'unknown_card'
  where m.kind = 'reversal' and m.is_waiting and not exists (select from cards c where c.card_ref = m.card_ref);
