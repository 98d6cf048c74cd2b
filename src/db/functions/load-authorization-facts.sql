/* Everything that the decision on one authorization looks at, in one snapshot and without locks, with the versions
   that apply_authorization compares. A card that is not known, or not issued yet, leaves `card` null. */
create or replace function load_authorization_facts(p_adapter text, p_id text, p_card_ref text, p_token_hash text, p_at timestamptz)
returns jsonb language plpgsql stable
  -- One plan per statement, by index, also where it was made while the tables were empty.
  set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  v_card cards;
  v_agent agents;
  v_policy policies;
  v_token jsonb;
  v_message network_messages;
  v_orphan jsonb;
  v_early jsonb;
  v_intents jsonb;
  v_confirmed jsonb;
  v_counters jsonb;
  v_funding_source text;
begin
  select * into v_message from network_messages m
    where m.adapter = p_adapter and m.id = p_id and m.kind = 'authorization';
  if found and v_message.request_hash <> '*' then
    return jsonb_build_object('known', jsonb_build_object('requestHash', v_message.request_hash, 'answer', v_message.answer));
  end if;
  -- Its clearings were booked before it came.
  if found then
    select to_jsonb(t) || jsonb_build_object('card_ref', v_message.card_ref, 'is_reversed', exists (
        select from transaction_events e where e.transaction_id = t.id and e.kind = 'reversal'),
      -- A final clearing of 0 ends no transaction that something is collected for after it.
      'is_final', t.is_final or exists (
        select from transaction_events e where e.transaction_id = t.id and e.kind = 'clearing' and e.is_final))
      into v_orphan from transactions t where t.adapter = p_adapter and t.authorization_id = p_id;
  end if;
  select jsonb_agg(jsonb_build_object('id', m.id, 'kind', m.kind, 'card_ref', m.card_ref, 'body', m.body,
      'request_id', m.request_id) order by m.received_at, m.id) into v_early
    -- Separately (`offset 0`): in the order of the aggregate, the plan would read what waits of all authorizations.
    from (select * from network_messages
      where adapter = p_adapter and authorization_id = p_id and is_waiting offset 0) m;
  select * into v_card from cards c where c.card_ref = p_card_ref;
  if v_card.id is null then
    return jsonb_build_object('card', null, 'early', coalesce(v_early, '[]'));
  end if;
  select * into v_agent from agents a where a.id = v_card.agent_id;
  select * into v_policy from policies p where p.agent_id = v_card.agent_id and p.removed_at is null;
  if p_token_hash is not null then
    select jsonb_build_object('kind', 'checkout', 'id', k.id, 'intent_id', k.intent_id, 'status', k.status,
        'ceiling_cents', k.ceiling_cents, 'is_used', k.status in ('paid', 'declined'), 'is_expired', false,
        'is_revoked', false, 'recipient', null, 'host', null, 'transaction_id', null, 'request_id', k.request_id, 'run_id', k.run_id)
      into v_token from checkouts k where k.token_hash = p_token_hash and k.card_id = v_card.id;
    if v_token is null then
      -- A credential that its merchant has verified may be charged after its expiry: the goods are delivered. So may
      -- one whose payment an operator has found to be paid.
      select jsonb_build_object('kind', 'credential', 'id', c.id, 'intent_id', c.intent_id, 'status', c.status,
          'ceiling_cents', c.ceiling_cents, 'is_used', c.authorized_at is not null,
          'is_expired', c.status <> 'consumed' and m.charge_outcome is distinct from 'approved'
            and c.expires_at <= clock_timestamp(),
          'is_revoked', c.status = 'revoked' and m.charge_outcome is distinct from 'approved',
          'recipient', c.recipient, 'host', c.host, 'transaction_id', coalesce(c.transaction_id, m.transaction_id),
          'request_id', c.request_id, 'run_id', c.run_id,
          'payment_id', m.id, 'credential', to_jsonb(c) - '{sealed_credential,challenge,encryption_jwk}'::text[])
        into v_token from mpp_credentials c left join mpp_payments m on m.credential_id = c.id
        where c.token_hash = p_token_hash and c.card_id = v_card.id;
    end if;
  end if;
  select jsonb_agg(case when i.recurring is null then to_jsonb(i) else to_jsonb(i) || jsonb_build_object('taken',
      (select jsonb_agg(jsonb_build_object('number', w.number, 'status', w.status, 'transaction_id', w.transaction_id))
        from intent_windows w
        where w.intent_id = i.id
          -- Also the window of an open payment: its charge counts as of when the payment was begun.
          and (w.from_at <= p_at and w.to_at > p_at or w.from_at <= i.open_payment_at and w.to_at > i.open_payment_at))) end order by i.created_at, i.id)
    into v_intents from intents i
    -- By the card alone: with the agent, a plan made while the table was small would read all intents that it ever had.
    where i.card_id = v_card.id and i.status = 'approved'
      and i.matched_transaction_id is null and i.transfer_id is null
      -- While a payment of it is open, no other token pays for it; of a recurring one, for that payment's window.
      and (i.expires_at > p_at or i.open_payment_id is not null)
      and (i.open_payment_id is null or v_token is null or i.recurring is not null
        or i.open_payment_id = v_token ->> 'payment_id')
      and (v_token is null or i.id = v_token ->> 'intent_id');
  select jsonb_agg(to_jsonb(t) || jsonb_build_object('intent', to_jsonb(i)) order by t.created_at, t.id) into v_confirmed
    -- The card's own first, and separately (`offset 0`): by status, the plan would read the holds of all owners.
    from (select * from transactions where card_id = v_card.id and link_until > p_at offset 0) t
    join intents i on i.id = t.intent_id
    where t.status = 'pending' and (v_token is null or t.id = v_token ->> 'transaction_id');
  select to_jsonb(s) into v_counters from spending_counters(v_card.agent_id, v_card.id, p_at, true, v_orphan ->> 'id') s;
  v_funding_source := coalesce(v_orphan ->> 'funding_source', funding_source_of(v_agent));
  return jsonb_build_object(
    'early', coalesce(v_early, '[]'),
    'orphan', v_orphan,
    'card', to_jsonb(v_card),
    'agent', jsonb_build_object('id', v_agent.id, 'owner_id', v_agent.owner_id, 'status', v_agent.status,
      'wallet_id', v_agent.wallet_id, 'version', v_agent.version),
    'policy', case when v_policy.id is null then null else to_jsonb(v_policy) end,
    'token', v_token,
    'intents', coalesce(v_intents, '[]'),
    'confirmed', coalesce(v_confirmed, '[]'),
    'counters', v_counters,
    'funding_source', v_funding_source,
    'available_cents', coalesce((select l.balance_cents from ledger_accounts l where l.name = v_funding_source || ':available'), 0),
    'revision', coalesce((select s.revision from agent_spending s where s.agent_id = v_card.agent_id), 0)
  );
end $$;
