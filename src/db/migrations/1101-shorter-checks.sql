-- PostgreSQL reads the checks of a table anew for each statement that writes to it, and that costs by their length: a list of
-- values is one constant instead of one for each value, and one check compares the smallest amount instead of seven.
alter table transactions
  drop constraint transactions_status_check,
  drop constraint transactions_type_check,
  drop constraint transactions_rail_check,
  drop constraint transactions_amount_cents_check,
  drop constraint transactions_requested_cents_check,
  drop constraint transactions_approved_cents_check,
  drop constraint transactions_held_cents_check,
  drop constraint transactions_cleared_cents_check,
  drop constraint transactions_reversed_cents_check,
  drop constraint transactions_refunded_cents_check,
  add constraint transactions_status_check check (status = any ('{pending,completed,failed,reversed}'::text[])),
  add constraint transactions_type_check check (type = any ('{authorization,capture,refund,reversal}'::text[])),
  add constraint transactions_rail_check check (rail = any ('{card,mpp,cua,simulate}'::text[])),
  add constraint transactions_cents_check check (least(amount_cents, requested_cents, approved_cents, held_cents,
    cleared_cents, reversed_cents, refunded_cents) >= 0);
alter table network_messages
  drop constraint network_messages_kind_check,
  drop constraint network_messages_unbooked_reason_check,
  drop constraint network_messages_settled_as_check,
  add constraint network_messages_kind_check
    check (kind = any ('{authorization,increment,clearing,reversal,refund,advice}'::text[])),
  add constraint network_messages_unbooked_reason_check
    check (unbooked_reason = any ('{other_card,other_currency,unknown_card}'::text[])),
  add constraint network_messages_settled_as_check check (settled_as = any ('{assigned,dismissed}'::text[]));
alter table transaction_events
  drop constraint transaction_events_kind_check,
  add constraint transaction_events_kind_check
    check (kind = any ('{authorization,increment,clearing,reversal,refund,advice,expiry}'::text[]));
alter table decisions
  drop constraint decisions_outcome_check,
  drop constraint decisions_message_kind_check,
  add constraint decisions_outcome_check check (outcome = any ('{approved,partial,declined}'::text[])),
  add constraint decisions_message_kind_check check (message_kind = any ('{authorization,increment}'::text[]));
alter table audit
  drop constraint audit_outcome_check,
  add constraint audit_outcome_check check (outcome = any ('{done,admitted,refused}'::text[]));
alter table unsealed_records
  drop constraint unsealed_records_chain_check,
  add constraint unsealed_records_chain_check check (chain = any ('{audit,decisions}'::text[]));
