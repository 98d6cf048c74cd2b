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
  -- Until when an authorization may adopt a row that a confirm wrote.
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
  -- open: no offer read yet; offered: judged, to be paid; paying: money may move; the others are final.
  status text not null check (status in ('open', 'offered', 'paying', 'paid', 'declined', 'refused', 'failed')),
  order_id text,
  amount_cents bigint check (amount_cents > 0),
  merchant jsonb,
  pay_url text,
  ceiling_cents bigint,
  -- SHA-256 of the token that the processor minted: by it an authorization names its checkout.
  token_hash text constraint checkouts_token unique,
  transaction_id text,
  -- Code and words for whoever asked.
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

/* What the agent, and one of its cards, has spent in the UTC day and month of `p_at`. `usage_count` and
   `last_payment_at` as the policy counts them: approved payments of the card (of the agent where none is named).
   `open_intents_cents`: approved intents that nothing pays for yet; a declaration counts them, a charge does not ask. */
create function spending_counters(p_agent text, p_card text, p_at timestamptz, p_is_charge boolean default false)
returns table (
  spent_today_cents bigint, spent_this_month_cents bigint, card_spent_today_cents bigint,
  card_spent_this_month_cents bigint, usage_count bigint, last_payment_at timestamptz, first_merchant jsonb,
  open_intents_cents bigint
) language sql stable as $$
  select s.today, s.month, s.card_today, s.card_month, u.payments, l.authorized_at, f.merchant, i.cents
  from (
    select
      coalesce(sum(d.spent_cents) filter (where d.day = (p_at at time zone 'UTC')::date), 0)::bigint as today,
      coalesce(sum(d.spent_cents), 0)::bigint as month,
      coalesce(sum(d.spent_cents) filter (where d.card_id = p_card and d.day = (p_at at time zone 'UTC')::date), 0)::bigint
        as card_today,
      coalesce(sum(d.spent_cents) filter (where d.card_id = p_card), 0)::bigint as card_month
    from spending_days d
    where d.agent_id = p_agent
      and d.day between date_trunc('month', p_at at time zone 'UTC')::date and (p_at at time zone 'UTC')::date
  ) s
  cross join lateral (
    select coalesce(sum(d.payments), 0)::bigint as payments from spending_days d
    where d.agent_id = p_agent and (p_card is null or d.card_id = p_card)
  ) u
  left join lateral (
    select t.authorized_at from transactions t where t.agent_id = p_agent and t.spent_cents > 0
    order by t.authorized_at desc limit 1
  ) l on true
  left join lateral (
    select jsonb_build_object('id', t.merchant_id, 'name', t.merchant) as merchant from transactions t where t.agent_id = p_agent and t.spent_cents > 0
    order by t.authorized_at limit 1
  ) f on true
  cross join lateral (
    select coalesce(sum(i.expected_amount_cents), 0)::bigint as cents from intents i
    where not p_is_charge
      and i.agent_id = p_agent and i.status = 'approved' and i.matched_transaction_id is null and i.expires_at > p_at
  ) i
$$;

-- Open holds by account: what the ledger's `held` balances must equal.
create or replace function open_holds(p_owner text) returns table (account text, held_cents bigint)
language sql stable as $$
  select t.purse || ':held', sum(t.held_cents)::bigint from transactions t
  where t.owner_id = p_owner and t.status = 'pending' and t.held_cents > 0 group by t.purse
$$;

-- Whatever concerns one authorization comes one after the other, also before its transaction exists.
create function lock_authorization(p_adapter text, p_authorization text) returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended(p_adapter || '/' || p_authorization, 140))
$$;

-- The agent's place in the queue of whatever changes its spending; returns the revision before.
create function lock_spending(p_agent text) returns bigint language sql volatile as $$
  insert into agent_spending as s (agent_id, revision) values (p_agent, 1)
    on conflict (agent_id) do update set revision = s.revision + 1
    returning s.revision - 1
$$;

-- Whose money an agent's cards draw on: its own budget once it has one, else its wallet.
create function purse_of(a agents) returns text language sql immutable parallel safe as $$
  select case a.funding when 'budget' then 'agent:' || a.id else 'wallet:' || a.wallet_id end
$$;

/* The locks of whoever books on a payment, in the one order: agent's spending, agent, card, intent; the transaction
   and then the ledger accounts are the caller's. The agent stands still, so that it is known whether it is closed. */
create function lock_payment(p_transaction text) returns void language plpgsql as $$
declare
  v record;
begin
  select agent_id, card_id, intent_id into v from transactions where id = p_transaction;
  perform lock_spending(v.agent_id);
  perform 1 from agents where id = v.agent_id for share;
  perform 1 from cards where id = v.card_id for no key update;
  perform 1 from intents where id = v.intent_id for no key update;
end $$;

/* The locks of a decision that is made anew because its facts were stale, in the same order. Returns the agent's purse,
   whose accounts come last. */
create function lock_decision(p_agent text, p_card text, p_at timestamptz) returns text language plpgsql as $$
declare
  v_purse text;
begin
  perform lock_spending(p_agent);
  select purse_of(a) into v_purse from agents a where a.id = p_agent for share;
  perform 1 from cards where id = p_card for share;
  perform 1 from policies where agent_id = p_agent and removed_at is null for share;
  perform 1 from intents where agent_id = p_agent and card_id = p_card and status = 'approved' order by id for no key update;
  perform 1 from transactions where card_id = p_card and adopt_until > p_at order by id for no key update;
  return v_purse;
end $$;

/* Everything that the decision on one authorization looks at, in one snapshot and without locks, with the versions
   that apply_authorization compares. A card that is not known, or not issued yet, leaves `card` null. */
create function load_authorization_facts(p_adapter text, p_id text, p_card_ref text, p_token_hash text, p_at timestamptz)
returns jsonb language plpgsql stable set plan_cache_mode = force_generic_plan as $$
declare
  v_card cards;
  v_agent agents;
  v_policy policies;
  v_checkout checkouts;
  v_known jsonb;
  v_early jsonb;
  v_intents jsonb;
  v_confirmed jsonb;
  v_counters jsonb;
  v_purse text;
begin
  select jsonb_build_object('requestHash', m.request_hash, 'answer', m.answer) into v_known
    from network_messages m where m.adapter = p_adapter and m.id = p_id;
  if found then
    return jsonb_build_object('known', v_known);
  end if;
  select jsonb_agg(jsonb_build_object('id', m.id, 'kind', m.kind, 'body', m.body) order by m.received_at, m.id) into v_early
    from network_messages m where m.adapter = p_adapter and m.authorization_id = p_id and m.is_waiting;
  select * into v_card from cards c where c.card_ref = p_card_ref;
  if v_card.id is null then
    return jsonb_build_object('card', null, 'early', coalesce(v_early, '[]'));
  end if;
  select * into v_agent from agents a where a.id = v_card.agent_id;
  select * into v_policy from policies p where p.agent_id = v_card.agent_id and p.removed_at is null;
  if p_token_hash is not null then
    select * into v_checkout from checkouts k where k.token_hash = p_token_hash and k.card_id = v_card.id;
  end if;
  select jsonb_agg(to_jsonb(i) order by i.created_at, i.id) into v_intents from intents i
    where i.agent_id = v_card.agent_id and i.card_id = v_card.id and i.status = 'approved'
      and i.matched_transaction_id is null and i.expires_at > p_at
      and (v_checkout.id is null or i.id = v_checkout.intent_id);
  select jsonb_agg(to_jsonb(t) || jsonb_build_object('intent', to_jsonb(i)) order by t.created_at, t.id) into v_confirmed
    from transactions t join intents i on i.id = t.intent_id
    where t.card_id = v_card.id and t.adopt_until > p_at and t.status = 'pending' and v_checkout.id is null;
  select to_jsonb(s) into v_counters from spending_counters(v_card.agent_id, v_card.id, p_at, true) s;
  v_purse := purse_of(v_agent);
  return jsonb_build_object(
    'early', coalesce(v_early, '[]'),
    'card', to_jsonb(v_card),
    'agent', jsonb_build_object('id', v_agent.id, 'owner_id', v_agent.owner_id, 'status', v_agent.status,
      'wallet_id', v_agent.wallet_id, 'version', v_agent.version),
    'policy', case when v_policy.id is null then null else to_jsonb(v_policy) end,
    'checkout', case when v_checkout.id is null then null else to_jsonb(v_checkout) end,
    'intents', coalesce(v_intents, '[]'),
    'confirmed', coalesce(v_confirmed, '[]'),
    'counters', v_counters,
    'purse', v_purse,
    'available_cents', coalesce((select l.balance_cents from ledger_accounts l where l.name = v_purse || ':available'), 0),
    'revision', coalesce((select s.revision from agent_spending s where s.agent_id = v_card.agent_id), 0)
  );
end $$;

create function stale(p_what text) returns void language plpgsql as $$
begin
  raise exception 'the facts of this decision are stale: %', p_what using errcode = 'BP001';
end $$;

/* Writes one decision with everything that follows from it, or nothing: BP001 when what it was made from has changed,
   BL001 when the money is gone. Rows are locked in one order: authorization, agent's spending, agent, card, policy,
   intent, transaction, ledger. A message that was answered before changes nothing. */
create function apply_authorization(p jsonb) returns jsonb language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  v_message jsonb := p -> 'message';
  v_expected jsonb := p -> 'expected';
  v_intent jsonb := p -> 'intent';
  v_known record;
  v_version int;
begin
  perform lock_authorization(v_message ->> 'adapter', v_message ->> 'id');
  insert into network_messages (adapter, id, kind, authorization_id, card_ref, request_hash, transaction_id, answer, received_at)
    values (v_message ->> 'adapter', v_message ->> 'id', 'authorization', v_message ->> 'id', v_message ->> 'cardRef',
      v_message ->> 'requestHash', v_message ->> 'transactionId', v_message -> 'answer', (v_message ->> 'at')::timestamptz)
    on conflict (adapter, id) do nothing;
  if not found then
    select m.request_hash, m.answer into v_known from network_messages m
      where m.adapter = v_message ->> 'adapter' and m.id = v_message ->> 'id';
    return jsonb_build_object('known', jsonb_build_object('requestHash', v_known.request_hash, 'answer', v_known.answer));
  end if;
  if (p ->> 'earlySeen')::int <> (select count(*) from network_messages m
      where m.adapter = v_message ->> 'adapter' and m.authorization_id = v_message ->> 'id' and m.is_waiting) then
    perform stale('early messages');
  end if;

  if v_expected is not null then
    if lock_spending(v_expected ->> 'agentId') <> (v_expected ->> 'revision')::bigint then perform stale('spending'); end if;
    select version into v_version from agents where id = v_expected ->> 'agentId' for share;
    if v_version is distinct from (v_expected ->> 'agentVersion')::int then perform stale('agent'); end if;
    select version into v_version from cards where id = v_expected ->> 'cardId' for share;
    if v_version is distinct from (v_expected ->> 'cardVersion')::int then perform stale('card'); end if;
    select version into v_version from policies
      where id = v_expected ->> 'policyId' and removed_at is null for share;
    if v_version is distinct from (v_expected ->> 'policyVersion')::int then perform stale('policy'); end if;
  end if;

  if v_intent is not null then
    update intents set status = v_intent ->> 'to', matched_transaction_id = v_intent ->> 'matchedTransactionId',
        transaction_id = v_intent ->> 'transactionId', denied_reason = v_intent ->> 'deniedReason',
        version = version + 1, updated_at = (v_message ->> 'at')::timestamptz
      where id = v_intent ->> 'id' and version = (v_intent ->> 'version')::int;
    if not found then perform stale('intent'); end if;
    insert into transitions values ('intent', v_intent ->> 'id', v_message ->> 'causeId', v_intent ->> 'from',
      v_intent ->> 'to', (v_message ->> 'at')::timestamptz);
    -- A matched intent has no deadline; its run is woken to say so, and not to read "then it expires" till the clearing.
    if (v_intent ->> 'isFinal')::boolean then
      update processes set is_open = false, wanted_wake = true, due_at = null
        where id = v_intent ->> 'processId' and is_open;
    else
      update processes set wanted_wake = true, due_at = null where id = v_intent ->> 'processId' and is_open;
    end if;
  end if;

  if p -> 'adopted' is not null then
    update transactions t set adapter = n.adapter, authorization_id = n.authorization_id, purse = n.purse,
        wallet_id = n.wallet_id, amount_cents = n.amount_cents, requested_cents = n.requested_cents,
        approved_cents = n.approved_cents, held_cents = n.held_cents, merchant_id = n.merchant_id, merchant = n.merchant,
        merchant_mcc = n.merchant_mcc, merchant_country = n.merchant_country, merchant_amount = n.merchant_amount,
        merchant_currency = n.merchant_currency, is_recurring = n.is_recurring, hold_expires_at = n.hold_expires_at,
        authorized_at = n.authorized_at, adopt_until = null, version = t.version + 1, updated_at = n.updated_at
      from jsonb_populate_record(null::transactions, p -> 'transaction') n
      where t.id = n.id and t.version = (p -> 'adopted' ->> 'version')::int and t.adopt_until is not null;
    if not found then perform stale('transaction'); end if;
  else
    insert into transactions (id, owner_id, agent_id, card_id, intent_id, wallet_id, adapter, authorization_id, purse,
        rail, type, status, amount_cents, requested_cents, approved_cents, held_cents, merchant_id, merchant,
        merchant_mcc, merchant_country, merchant_amount, merchant_currency, is_verification, is_recurring,
        decline_rule, decline_reason, hold_expires_at, authorized_at, completed_at, request_id, run_id, created_at,
        updated_at)
      select id, owner_id, agent_id, card_id, intent_id, wallet_id, adapter, authorization_id, purse,
        rail, type, status, amount_cents, requested_cents, approved_cents, held_cents, merchant_id, merchant,
        merchant_mcc, merchant_country, merchant_amount, merchant_currency, is_verification, is_recurring,
        decline_rule, decline_reason, hold_expires_at, authorized_at, completed_at, request_id, run_id, created_at,
        updated_at
      from jsonb_populate_record(null::transactions, p -> 'transaction');
  end if;
  insert into transitions values ('transaction', v_message ->> 'transactionId', v_message ->> 'causeId',
    case when p -> 'adopted' is null then null else 'pending' end, p -> 'transaction' ->> 'status',
    (v_message ->> 'at')::timestamptz);
  insert into transaction_events (transaction_id, kind, adapter, network_id, amount_cents, at)
    values (v_message ->> 'transactionId', 'authorization', v_message ->> 'adapter', v_message ->> 'id',
      (p -> 'transaction' ->> 'approved_cents')::bigint, (v_message ->> 'at')::timestamptz);
  insert into decisions (transaction_id, owner_id, agent_id, card_id, intent_id, outcome, rule, reason, policy_id,
      policy_version, facts, trace, at)
    select transaction_id, owner_id, agent_id, card_id, intent_id, outcome, rule, reason, policy_id, policy_version,
      facts, trace, at
    from jsonb_populate_record(null::decisions, p -> 'decision');
  if p -> 'checkout' is not null then
    update checkouts set status = p -> 'checkout' ->> 'status', transaction_id = v_message ->> 'transactionId',
        outcome_code = p -> 'checkout' ->> 'code', outcome_reason = p -> 'checkout' ->> 'reason',
        updated_at = (v_message ->> 'at')::timestamptz
      where id = p -> 'checkout' ->> 'id' and status in ('offered', 'paying', 'failed', 'refused');
    -- The process is the intent's: a later checkout of it may be under way, and keeps it.
    update processes set is_open = false, wanted_wake = true, due_at = null
      where id = p -> 'checkout' ->> 'processId' and is_open
        and not exists (select 1 from checkouts k where k.intent_id = p -> 'checkout' ->> 'intentId'
          and k.status in ('open', 'offered', 'paying'));
  end if;
  insert into events (id, owner_id, agent_id, subject_id, name, data, request_id, run_id, created_at)
    select id, owner_id, agent_id, subject_id, name, data, request_id, run_id, created_at
    from jsonb_populate_recordset(null::events, p -> 'events');
  insert into audit (id, owner_id, agent_id, actor, action, subject_id, details, request_id, created_at)
    select id, owner_id, agent_id, actor, action, subject_id, details, request_id, created_at
    from jsonb_populate_recordset(null::audit, p -> 'audits');
  if jsonb_array_length(p -> 'journals') > 0 then
    perform 1 from post_journals(p -> 'journals');
  end if;
  return jsonb_build_object('known', null);
end $$;
