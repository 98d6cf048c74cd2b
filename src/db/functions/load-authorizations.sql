/* Everything that the decisions on some authorizations look at, in one snapshot and without locks, with the versions that
   their writing compares: one document for each, in the order of the arrays. A card that is not known, or not issued yet,
   leaves `card` null. Each part is looked up by its key for each of them (`offset 0`), so that a plan that was made while
   a table was small never reads it whole. What few authorizations have is read by separate functions: each node of a plan
   is made ready for every batch, whether it is reached or not, and a function that is not called costs nothing. */
create or replace function load_authorizations(p_adapters text[], p_ids text[], p_card_refs text[], p_token_hashes text[],
    p_ats timestamptz[])
returns table (facts json) language plpgsql stable
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set jit = off as $$
begin
  return query
    select case
      when m.request_hash <> '*' then
        json_build_object('known', json_build_object('requestHash', m.request_hash, 'answer', m.answer))
      when c.id is null then json_build_object('card', null, 'early', coalesce(e.early, '[]'))
      else json_build_object(
        'early', coalesce(e.early, '[]'),
        'orphan', o.orphan,
        'card', json_build_object('id', c.id, 'owner_id', c.owner_id, 'agent_id', c.agent_id, 'status', c.status,
          'usage', c.usage, 'is_provisioning', c.is_provisioning, 'expiry_month', c.expiry_month,
          'expiry_year', c.expiry_year, 'max_transaction_cents', c.max_transaction_cents,
          'daily_limit_cents', c.daily_limit_cents, 'monthly_limit_cents', c.monthly_limit_cents, 'controls', c.controls,
          'version', c.version),
        'agent', json_build_object('id', a.id, 'owner_id', a.owner_id, 'status', a.status, 'wallet_id', a.wallet_id,
          'version', a.version),
        'policy', p.policy,
        'token', k.token,
        'intents', coalesce(i.intents, '[]'),
        'confirmed', coalesce(f.confirmed, '[]'),
        'counters', s.counters,
        'funding_source', b.source,
        'available_cents', coalesce(b.available_cents, 0),
        'revision', coalesce(r.revision, 0))
    end
    from unnest(p_adapters, p_ids, p_card_refs, p_token_hashes, p_ats) with ordinality q (adapter, id, card_ref, token_hash, at, n)
    left join lateral (
      select * from network_messages x where x.adapter = q.adapter and x.id = q.id and x.kind = 'authorization' offset 0
    ) m on true
    -- Its clearings were booked before it came.
    left join lateral collected_before(q.adapter, q.id, case when m.request_hash = '*' then m.card_ref end) o on true
    left join lateral (
      select json_agg(json_build_object('id', w.id, 'kind', w.kind, 'card_ref', w.card_ref, 'body', w.body,
          'request_id', w.request_id) order by w.received_at, w.id) as early
        -- Separately: in the order of the aggregate, the plan would read what waits of all authorizations.
        from (select * from network_messages x
          where x.adapter = q.adapter and x.authorization_id = q.id and x.is_waiting offset 0) w
    ) e on true
    left join lateral (select * from cards x where x.card_ref = q.card_ref offset 0) c on true
    left join lateral (
      select x.*, funding_source_of(x) as source from agents x where x.id = c.agent_id offset 0
    ) a on true
    left join lateral (
      select row_to_json(x) as policy from policies x where x.agent_id = c.agent_id and x.removed_at is null offset 0
    ) p on true
    left join lateral payment_token(q.token_hash, c.id) k on true
    left join lateral (
      select json_agg(case when x.recurring is null then json_build_object('id', x.id, 'owner_id', x.owner_id,
            'agent_id', x.agent_id, 'card_id', x.card_id, 'status', x.status, 'version', x.version,
            'expected_amount_cents', x.expected_amount_cents, 'expected_merchant', x.expected_merchant,
            'expires_at', x.expires_at, 'open_payment_id', x.open_payment_id, 'open_payment_at', x.open_payment_at,
            'is_auto_approved', x.is_auto_approved, 'approved_at', x.approved_at, 'attested_at', x.attested_at,
            'transaction_id', x.transaction_id, 'declined_charge', x.declined_charge, 'allows_once_of', x.allows_once_of,
            'recurring', null, 'verified', x.verified, 'request_id', x.request_id, 'run_id', x.run_id, 'created_at', x.created_at)
          else (to_jsonb(x) || jsonb_build_object('taken',
            taken_windows(x.id, q.at, x.open_payment_at)))::json
          end order by x.created_at, x.id) as intents
        from intents x
        -- By the card alone: with the agent, a plan made while the table was small would read all intents that it ever had.
        where x.card_id = c.id and x.status = 'approved' and x.matched_transaction_id is null and x.transfer_id is null
          -- While a payment of it is open, no other token pays for it; of a recurring one, for that payment's window.
          and (x.expires_at > q.at or x.open_payment_id is not null)
          and (x.open_payment_id is null or k.token is null or x.recurring is not null or x.open_payment_id = k.payment_id)
          and (k.token is null or x.id = k.intent_id)
    ) i on true
    left join lateral (
      select json_agg((to_jsonb(t) || jsonb_build_object('intent', to_jsonb(x)))::json order by t.created_at, t.id) as confirmed
        -- The card's own first, and separately: by status, the plan would read the holds of all owners.
        from (select * from transactions y where y.card_id = c.id and y.link_until > q.at offset 0) t
        join intents x on x.id = t.intent_id
        where t.status = 'pending' and (k.token is null or t.id = k.transaction_id)
    ) f on true
    left join lateral (
      select row_to_json(x) as counters from spending_counters(c.agent_id, c.id, q.at, true, o.id) x
    ) s on true
    left join lateral (
      select y.source, (select x.balance_cents from ledger_accounts x where x.name = y.source || ':available') as available_cents
        from (select coalesce(o.funding_source, a.source) as source offset 0) y
    ) b on true
    left join lateral (select x.revision from agent_spending x where x.agent_id = c.agent_id offset 0) r on true
    order by q.n;
end $$;

-- The transaction of clearings that were booked before their authorization came. Null as the card: there are none.
create or replace function collected_before(p_adapter text, p_authorization text, p_card_ref text)
  returns table (id text, funding_source text, orphan json) language plpgsql stable strict rows 1 as $$
#variable_conflict use_column
begin
  return query
    select t.id, t.funding_source, (to_jsonb(t) || jsonb_build_object('card_ref', p_card_ref, 'is_reversed', exists (
          select from transaction_events x where x.transaction_id = t.id and x.kind = 'reversal'),
        -- A final clearing of 0 ends no transaction that something is collected for after it.
        'is_final', t.is_final or exists (
          select from transaction_events x where x.transaction_id = t.id and x.kind = 'clearing' and x.is_final)))::json
      from transactions t where t.adapter = p_adapter and t.authorization_id = p_authorization;
end $$;

-- What a payment token of this card was minted for, with its record.
create or replace function payment_token(p_hash text, p_card text)
  returns table (intent_id text, payment_id text, transaction_id text, token json) language plpgsql stable strict rows 1 as $$
#variable_conflict use_column
begin
  return query
    select * from (
      select t.intent_id, null as payment_id, t.transaction_id, json_build_object('kind', 'checkout', 'id', t.id,
          'intent_id', t.intent_id, 'status', t.status, 'ceiling_cents', t.ceiling_cents,
          'is_used', t.status in ('paid', 'declined'), 'is_expired', false, 'is_revoked', false, 'recipient', null,
          'host', null, 'transaction_id', null, 'request_id', t.request_id, 'run_id', t.run_id) as token
        from checkouts t where t.token_hash = p_hash and t.card_id = p_card
      union all
      -- A credential that its merchant has verified may be charged after its expiry: the goods are delivered. So may
      -- one whose payment an operator has found to be paid.
      select t.intent_id, y.id, coalesce(t.transaction_id, y.transaction_id), json_build_object('kind', 'credential',
          'id', t.id, 'intent_id', t.intent_id, 'status', t.status, 'ceiling_cents', t.ceiling_cents,
          'is_used', t.authorized_at is not null,
          'is_expired', t.status <> 'consumed' and y.charge_outcome is distinct from 'approved'
            and t.expires_at <= clock_timestamp(),
          'is_revoked', t.status = 'revoked' and y.charge_outcome is distinct from 'approved',
          'recipient', t.recipient, 'host', t.host, 'transaction_id', coalesce(t.transaction_id, y.transaction_id),
          'request_id', t.request_id, 'run_id', t.run_id, 'payment_id', y.id,
          'credential', to_jsonb(t) - '{sealed_credential,challenge,encryption_jwk}'::text[])
        from mpp_credentials t left join mpp_payments y on y.credential_id = t.id
        where t.token_hash = p_hash and t.card_id = p_card
    ) x limit 1;
end $$;

-- The rows of the windows of a recurring intent that a charge falls in, and of an open payment: its charge counts as of when the
-- payment was begun.
create or replace function taken_windows(p_intent text, p_at timestamptz, p_open_payment_at timestamptz) returns jsonb
  language plpgsql stable as $$
begin
  return (
    select jsonb_agg(jsonb_build_object('number', w.number, 'status', w.status, 'transaction_id', w.transaction_id))
      from intent_windows w
      where w.intent_id = p_intent
        and (w.from_at <= p_at and w.to_at > p_at or w.from_at <= p_open_payment_at and w.to_at > p_open_payment_at));
end $$;
