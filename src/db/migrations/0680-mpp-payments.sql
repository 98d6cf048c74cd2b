-- Payments at merchants that answer 402, each for one intent. The merchant's challenge and receipt are sealed.
create table mpp_payments (
  id text primary key,
  owner_id text not null,
  agent_id text not null references agents (id),
  intent_id text not null references intents (id),
  card_id text not null references cards (id),
  url text not null check (length(url) <= 2048),
  -- The address that made the challenge, where redirects led to another one than `url`.
  payee_url text check (length(payee_url) <= 2048),
  status text not null
    check (status in ('requested', 'challenged', 'allowed', 'minted', 'presenting', 'accepted', 'unknown', 'paid',
      'declined', 'refused', 'not_paid')),
  sealed_challenge text,
  amount_cents bigint check (amount_cents > 0),
  currency text check (currency = 'EUR'),
  credential_id text not null constraint mpp_payments_credential unique,
  -- The step that may send the credential. No other one does.
  send_cause text,
  -- Real time.
  send_until timestamptz,
  sent_at timestamptz,
  -- Business time.
  presented_at timestamptz,
  -- What the network, the merchant's verify or an operator said about the charge.
  charge_outcome text check (charge_outcome in ('approved', 'declined')),
  charge_source text check (charge_source in ('network', 'verify', 'operator')),
  charge_code text,
  charge_reason text,
  transaction_id text,
  merchant_status int check (merchant_status between 100 and 999),
  sealed_receipt text,
  outcome_code text,
  outcome_reason text,
  version int not null default 1,
  request_id text not null,
  run_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((amount_cents is null) = (currency is null)),
  check ((send_cause is null) = (send_until is null)),
  check (sent_at is null or send_cause is not null),
  check ((charge_outcome is null) = (charge_source is null)),
  check (status not in ('accepted', 'unknown', 'not_paid') or sent_at is not null),
  check (status <> 'paid' or (charge_outcome = 'approved' and transaction_id is not null))
);
create unique index mpp_payments_one_open on mpp_payments (intent_id)
  where status in ('requested', 'challenged', 'allowed', 'minted', 'presenting', 'accepted', 'unknown');
create index mpp_payments_intent on mpp_payments (intent_id, created_at desc, id desc);
create index mpp_payments_owner on mpp_payments (owner_id, created_at desc, id desc);
create index mpp_payments_agent on mpp_payments (agent_id, created_at desc, id desc);
create index mpp_payments_transaction on mpp_payments (transaction_id) where transaction_id is not null;
create trigger mpp_payments_version before update on mpp_payments for each row execute function count_version();

-- What merchants answered to a payment, for a day. A separate table: it is long, and read only for the caller.
create table mpp_bodies (
  payment_id text primary key references mpp_payments (id),
  sealed_body text not null,
  -- Real time.
  kept_until timestamptz not null
);
create index mpp_bodies_kept on mpp_bodies (kept_until);
