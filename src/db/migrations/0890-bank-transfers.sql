-- Transfers to bank accounts: a row of `transfers` with a stage. Money is held from the start, goes to the bank when
-- the bank has settled it, and is released where it never left.
alter table transfers drop constraint transfers_type_check;
alter table transfers drop constraint transfers_status_check;
alter table transfers alter column to_wallet_id drop not null;
alter table transfers alter column completed_at drop not null;
alter table transfers
  add column version integer not null default 1,
  add column updated_at timestamptz,
  add column beneficiary_id text references beneficiaries (id),
  add column failure_reason text,
  add column stage text check (stage in ('requested', 'pending_approval', 'approved', 'sending', 'submitted', 'accepted',
    'settled', 'returned', 'recalled', 'rejected', 'denied', 'expired', 'cancelled')),
  add column scheme text check (scheme in ('instant', 'batch')),
  -- Our account that the bank debits, and what the bank gets of the payee and of the purpose.
  add column payer_wallet_id text,
  add column payer_iban text,
  add column payee_name text check (length(payee_name) <= 70),
  add column payee_iban_masked text,
  add column remittance text check (length(remittance) <= 140),
  add column payee_check text check (payee_check in ('match', 'close_match', 'no_match', 'not_possible')),
  -- Why a person has to decide: the rule of the policy, or null where only the payee check may ask for a person.
  add column approval_rule text,
  add column expires_at timestamptz,
  add column decided_by text,
  add column decided_at timestamptz,
  add column decision_reason text,
  -- Marked before the one request to the bank. `send_until` is real time, and so is `sent_at`.
  add column sending_cause text,
  add column send_until timestamptz,
  add column sent_at timestamptz,
  add column execution_date text check (execution_date ~ '^\d{4}-\d{2}-\d{2}$'),
  add column settlement_date text check (settlement_date ~ '^\d{4}-\d{2}-\d{2}$'),
  add column asked_at timestamptz,
  add column asks smallint not null default 0,
  add column reminders smallint not null default 0,
  add column reason_code text,
  add column return_window_ends_at timestamptz,
  add column recall_requested_at timestamptz,
  add column recall_outcome text check (recall_outcome in ('asking', 'requested', 'refused')),
  -- Nothing more is waited for. A late return is still booked.
  add column closed_at timestamptz;
update transfers set updated_at = completed_at;
alter table transfers alter column updated_at set not null;
alter table transfers
  add constraint transfers_type_check check (type in ('internal', 'sepa')),
  add constraint transfers_status_check check (status in ('pending_approval', 'pending', 'submitted', 'completed', 'returned',
    'failed', 'cancelled', 'denied')),
  add constraint transfers_internal check (type <> 'internal' or (status = 'completed' and to_wallet_id is not null
    and completed_at is not null and stage is null)),
  add constraint transfers_sepa check (type <> 'sepa' or (stage is not null and to_wallet_id is null and scheme is not null
    and beneficiary_id is not null and payer_wallet_id is not null and payer_iban is not null and payee_name is not null
    and payee_iban_masked is not null)),
  -- From here on the bank may have the payment, so it is known which run gave it away.
  add constraint transfers_sent check (stage not in ('sending', 'submitted', 'accepted', 'settled', 'returned', 'recalled')
    or (sending_cause is not null and send_until is not null));
create trigger transfers_version before update on transfers for each row execute function count_version();
-- What is held for transfers, and what keeps a beneficiary.
create index transfers_held on transfers (owner_id) where status in ('pending_approval', 'pending', 'submitted');
create index transfers_beneficiary on transfers (beneficiary_id) where status in ('pending_approval', 'pending', 'submitted');

-- A transfer that never left the account is no longer spent on the day on which it was asked for. A return gives the
-- agent nothing back, as a refund does not.
create function release_transfer_spending() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  insert into spending_days as d (agent_id, card_id, day, spent_cents, payments)
    select f.agent_id, '', (f.created_at at time zone 'UTC')::date, -sum(f.amount_cents),
      -count(*) filter (where coalesce(f.split_line, 0) = 0)
    from fresh f join stale s on s.id = f.id
    where f.agent_id is not null and f.status in ('failed', 'denied', 'cancelled')
      and s.status not in ('failed', 'denied', 'cancelled')
    group by 1, 3 order by 1, 3
    on conflict (agent_id, day, card_id) do update
      set spent_cents = d.spent_cents + excluded.spent_cents, payments = d.payments + excluded.payments;
  return null;
end $$;
create trigger transfers_release_spending after update on transfers
  referencing new table as fresh old table as stale for each statement execute function release_transfer_spending();
