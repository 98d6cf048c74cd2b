-- Payments: transactions with what the network said about them, decisions, checkouts, and what counts as spent.

create table transactions (
  id text primary key,
  owner_id text not null,
  agent_id text not null,
  card_id text,
  intent_id text,
  wallet_id text,
  -- The network's authorization, and which adapter speaks for that network.
  adapter text,
  authorization_id text,
  -- Whose money: `wallet:{id}` or `agent:{id}`; its ledger accounts are this and `:available` or `:held`.
  purse text check (purse ~ '^(wallet:wal|agent:ag)_[a-z0-9]{8,64}$'),
  rail text not null default 'card' check (rail in ('card', 'mpp', 'cua', 'simulate')),
  type text not null check (type in ('authorization', 'capture', 'refund', 'reversal')),
  status text not null check (status in ('pending', 'completed', 'failed', 'reversed')),
  amount_cents bigint not null check (amount_cents >= 0),
  requested_cents bigint not null check (requested_cents >= 0),
  approved_cents bigint not null default 0 check (approved_cents >= 0),
  held_cents bigint not null default 0 check (held_cents >= 0),
  cleared_cents bigint not null default 0 check (cleared_cents >= 0),
  reversed_cents bigint not null default 0 check (reversed_cents >= 0),
  refunded_cents bigint not null default 0 check (refunded_cents >= 0),
  -- max(hold, cleared) minus what was given back: what is still held and what was collected.
  spent_cents bigint not null generated always as
    (case when type = 'refund' then 0 else held_cents + cleared_cents end) stored,
  currency text not null default 'EUR' check (currency = 'EUR'),
  merchant_id text,
  merchant text,
  merchant_mcc text check (merchant_mcc ~ '^\d{4}$'),
  merchant_country text check (merchant_country ~ '^[A-Z]{2}$'),
  merchant_amount numeric,
  merchant_currency text,
  is_verification boolean not null default false,
  is_recurring boolean not null default false,
  is_final boolean not null default false,
  decline_rule text,
  decline_reason text,
  verified boolean not null default false,
  verified_at timestamptz,
  mismatch text,
  memo text check (length(memo) <= 1000),
  original_transaction_id text,
  issuer_settlement_id text,
  hold_expires_at timestamptz,
  -- Until then an authorization may be linked with the transaction that a confirm wrote.
  adopt_until timestamptz,
  confirmed_at timestamptz,
  confirm_cause text,
  authorized_at timestamptz,
  completed_at timestamptz,
  request_id text not null,
  run_id text,
  version int not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint transactions_authorization unique (adapter, authorization_id),
  check (held_cents = 0 or (status = 'pending' and purse is not null and authorized_at is not null)),
  check (status <> 'failed' or held_cents + cleared_cents = 0)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
        autovacuum_analyze_scale_factor = 0.05);
create index transactions_owner on transactions (owner_id, created_at desc, id desc);
create index transactions_agent on transactions (agent_id, created_at desc, id desc);
create index transactions_card on transactions (card_id, created_at desc, id desc);
create index transactions_intent on transactions (intent_id, created_at desc, id desc) where intent_id is not null;
create index transactions_merchant on transactions (owner_id, lower(merchant), created_at desc, id desc);
create index transactions_unusual on transactions (owner_id, status, created_at desc, id desc)
  where status <> 'completed';
create index transactions_spent on transactions (agent_id, authorized_at) where spent_cents > 0;
-- Also without a hold: a clearing that was not the last one may have used it up.
create index transactions_holds on transactions (hold_expires_at) where status = 'pending';
create index transactions_to_adopt on transactions (card_id, adopt_until) where adopt_until is not null;
create index transactions_adoption_ends on transactions (adopt_until) where adopt_until is not null;

-- What happened to a transaction, in order; shown as its events[]. No foreign key: it is on the path of every decision.
create table transaction_events (
  seq bigint generated always as identity primary key,
  transaction_id text not null,
  kind text not null check (kind in ('authorization', 'clearing', 'reversal', 'expiry')),
  adapter text,
  network_id text,
  amount_cents bigint not null check (amount_cents >= 0),
  is_final boolean,
  at timestamptz not null,
  constraint transaction_events_network unique (adapter, network_id)
);
create index transaction_events_transaction on transaction_events (transaction_id, seq);

-- What the network sent: the same id gives the same answer. `is_waiting`: it is about an authorization not seen yet.
create table network_messages (
  adapter text not null,
  id text not null,
  kind text not null check (kind in ('authorization', 'clearing', 'reversal')),
  authorization_id text not null,
  card_ref text not null,
  request_hash text not null,
  transaction_id text,
  answer jsonb not null,
  is_waiting boolean not null default false,
  -- Only while it waits.
  body jsonb check ((body is not null) = is_waiting),
  received_at timestamptz not null,
  primary key (adapter, id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index network_messages_waiting on network_messages (adapter, authorization_id, received_at) where is_waiting;
create index network_messages_left on network_messages (received_at) where is_waiting;

-- Every decision, with what it was made from. Append-only; no personal data.
create table decisions (
  seq bigint generated always as identity primary key,
  transaction_id text,
  owner_id text not null,
  agent_id text not null,
  card_id text,
  intent_id text,
  outcome text not null check (outcome in ('approved', 'partial', 'declined')),
  rule text not null,
  reason text not null,
  policy_id text,
  policy_version int,
  facts jsonb not null,
  trace jsonb not null,
  at timestamptz not null
);
create index decisions_transaction on decisions (transaction_id);
create trigger decisions_append_only before update or delete on decisions for each row execute function refuse_change();

create table checkouts (
  id text primary key,
  owner_id text not null,
  agent_id text not null,
  intent_id text not null,
  card_id text not null,
  target_url text not null check (length(target_url) <= 2048),
  -- open: no offer read yet; offered: evaluated and to be paid; paying: money may move; the others are final.
  status text not null check (status in ('open', 'offered', 'paying', 'paid', 'declined', 'refused', 'failed')),
  order_id text,
  amount_cents bigint check (amount_cents > 0),
  merchant jsonb,
  pay_url text,
  ceiling_cents bigint,
  -- SHA-256 of the token that the processor minted: by it an authorization names its checkout.
  token_hash text constraint checkouts_token unique,
  transaction_id text,
  -- Error code and message for the caller.
  outcome_code text,
  outcome_reason text,
  pay_attempts int not null default 0,
  next_attempt_at timestamptz,
  paying_since timestamptz,
  request_id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index checkouts_one_open on checkouts (intent_id) where status in ('open', 'offered', 'paying');
create index checkouts_intent on checkouts (intent_id, created_at desc, id desc);
create index checkouts_owner on checkouts (owner_id, created_at desc, id desc);

-- One row per agent, locked by whatever changes what the agent has spent; `revision` tells whether facts are stale.
create table agent_spending (
  agent_id text primary key,
  revision bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- Spent per agent, card and UTC day of the authorization: sums do not grow slower with the number of payments.
create table spending_days (
  agent_id text not null,
  card_id text not null,
  day date not null,
  spent_cents bigint not null,
  payments bigint not null,
  primary key (agent_id, day, card_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

create function add_spending() returns trigger language plpgsql as $$
begin
  insert into spending_days as d (agent_id, card_id, day, spent_cents, payments)
    select agent_id, coalesce(card_id, ''), (authorized_at at time zone 'UTC')::date, sum(spent_cents), count(*)
    from fresh where spent_cents > 0 group by 1, 2, 3 order by 1, 2, 3
    on conflict (agent_id, day, card_id) do update
      set spent_cents = d.spent_cents + excluded.spent_cents, payments = d.payments + excluded.payments;
  return null;
end $$;
create trigger transactions_add_spending after insert on transactions
  referencing new table as fresh for each statement execute function add_spending();

create function change_spending() returns trigger language plpgsql as $$
begin
  insert into spending_days as d (agent_id, card_id, day, spent_cents, payments)
    select agent_id, coalesce(card_id, ''), (authorized_at at time zone 'UTC')::date, sum(cents), sum(uses)
    from (
      select agent_id, card_id, authorized_at, spent_cents as cents, 1 as uses from fresh where spent_cents > 0
      union all
      select agent_id, card_id, authorized_at, -spent_cents, -1 from stale where spent_cents > 0
    ) moved
    group by 1, 2, 3 having sum(cents) <> 0 or sum(uses) <> 0 order by 1, 2, 3
    on conflict (agent_id, day, card_id) do update
      set spent_cents = d.spent_cents + excluded.spent_cents, payments = d.payments + excluded.payments;
  return null;
end $$;
create trigger transactions_change_spending after update on transactions
  referencing new table as fresh old table as stale for each statement execute function change_spending();
