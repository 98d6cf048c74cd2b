create or replace function stale(p_what text) returns void language plpgsql as $$
begin
  raise exception 'the facts of this decision are stale: %', p_what using errcode = 'BP001';
end $$;

/* Writes one decision with everything that follows from it, or nothing: BP001 when what it was made from has changed,
   BL001 when the money is gone. Rows are locked in one order: authorization, agent's spending, agent, card, policy,
   intent, transaction, ledger. A message that was answered before changes nothing. */
create or replace function apply_authorization(p jsonb) returns jsonb language plpgsql
  security definer set search_path = public, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  v_message jsonb := p -> 'message';
  v_expected jsonb := p -> 'expected';
  v_intent jsonb := p -> 'intent';
  -- The record whose payment token the charge carries.
  v_token jsonb := p -> 'token';
  v_known record;
  v_version int;
  v_from text;
  v_run text;
begin
  perform lock_authorization(v_message ->> 'adapter', v_message ->> 'id');
  insert into network_messages (adapter, id, kind, authorization_id, card_ref, request_hash, transaction_id, answer,
      request_id, received_at)
    values (v_message ->> 'adapter', v_message ->> 'id', 'authorization', v_message ->> 'id', v_message ->> 'cardRef',
      v_message ->> 'requestHash', v_message ->> 'transactionId', v_message -> 'answer',
      v_message ->> 'requestId', (v_message ->> 'at')::timestamptz)
    on conflict (adapter, id, kind) do update
      set request_hash = excluded.request_hash, answer = excluded.answer, request_id = excluded.request_id
      where network_messages.request_hash = '*' and p -> 'orphan' is not null;
  if not found then
    select m.request_hash, m.answer into v_known from network_messages m
      where m.adapter = v_message ->> 'adapter' and m.id = v_message ->> 'id' and m.kind = 'authorization';
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

  -- A confirmed intent moves no more, but the passkey that stood by it may have gone.
  if p -> 'linked' is not null then
    select version into v_version from intents where id = p -> 'linked' ->> 'intentId' for share;
    if v_version is distinct from (p -> 'linked' ->> 'intentVersion')::int then perform stale('intent'); end if;
  end if;

  if v_intent is not null then
    update intents set status = v_intent ->> 'to', matched_transaction_id = v_intent ->> 'matchedTransactionId',
        transaction_id = v_intent ->> 'transactionId', denied_reason = v_intent ->> 'deniedReason',
        updated_at = (v_message ->> 'at')::timestamptz
      where id = v_intent ->> 'id' and version = (v_intent ->> 'version')::int;
    if not found then perform stale('intent'); end if;
    insert into transitions values ('intent', v_intent ->> 'id', v_message ->> 'causeId', v_intent ->> 'from',
      v_intent ->> 'to', (v_message ->> 'at')::timestamptz);
    -- A matched intent has no deadline; its run is woken to say so, and not to read "then it expires" till the clearing.
    if (v_intent ->> 'isFinal')::boolean then
      update workflow_runs set is_open = false, wanted_wake = true, due_at = null
        where id = v_intent ->> 'workflowId' and is_open;
    else
      update workflow_runs set wanted_wake = true, due_at = (v_intent ->> 'dueAt')::timestamptz
        where id = v_intent ->> 'workflowId' and is_open;
    end if;
    -- Of a recurring intent: its window is paid once, by the first charge.
    if v_intent -> 'window' is not null then
      insert into intent_windows as w (intent_id, number, due_at, from_at, to_at, status, transaction_id, created_at, updated_at)
        select intent_id, number, due_at, from_at, to_at, status, transaction_id, (v_message ->> 'at')::timestamptz,
          (v_message ->> 'at')::timestamptz
        from jsonb_populate_record(null::intent_windows, v_intent -> 'window')
        on conflict (intent_id, number) do update
          set status = excluded.status, transaction_id = excluded.transaction_id, updated_at = excluded.updated_at
          where w.status = 'open';
      if not found then perform stale('window'); end if;
    end if;
    if v_intent -> 'shows' is not null then
      update intents i set window_number = n.window_number, window_due_at = n.window_due_at,
          window_from_at = n.window_from_at, window_to_at = n.window_to_at
        from jsonb_populate_record(null::intents, v_intent -> 'shows') n where i.id = v_intent ->> 'id';
    end if;
  end if;

  if p -> 'linked' is not null then
    update transactions t set adapter = n.adapter, authorization_id = n.authorization_id, funding_source = n.funding_source,
        wallet_id = n.wallet_id, rail = case n.rail when 'card' then t.rail else n.rail end, amount_cents = n.amount_cents, requested_cents = n.requested_cents,
        approved_cents = n.approved_cents, held_cents = n.held_cents, merchant_id = n.merchant_id, merchant = n.merchant,
        merchant_mcc = n.merchant_mcc, merchant_country = n.merchant_country, merchant_amount = n.merchant_amount,
        merchant_currency = n.merchant_currency, is_recurring = n.is_recurring, hold_expires_at = n.hold_expires_at,
        authorized_at = n.authorized_at, link_until = null, updated_at = n.updated_at
      from jsonb_populate_record(null::transactions, p -> 'transaction') n
      where t.id = n.id and t.version = (p -> 'linked' ->> 'version')::int and t.link_until is not null;
    if not found then perform stale('transaction'); end if;
  elsif p -> 'orphan' is not null then
    update transactions t set intent_id = n.intent_id, rail = n.rail, status = n.status, amount_cents = n.amount_cents,
        requested_cents = n.requested_cents, approved_cents = n.approved_cents, held_cents = n.held_cents,
        merchant_id = n.merchant_id, merchant = n.merchant, merchant_mcc = n.merchant_mcc,
        merchant_country = n.merchant_country, merchant_amount = n.merchant_amount,
        merchant_currency = n.merchant_currency, is_recurring = n.is_recurring, decline_rule = n.decline_rule,
        decline_reason = n.decline_reason, hold_expires_at = n.hold_expires_at, authorized_at = n.authorized_at,
        completed_at = n.completed_at, request_id = n.request_id, run_id = n.run_id,
        updated_at = n.updated_at
      from jsonb_populate_record(null::transactions, p -> 'transaction') n
      where t.id = n.id and t.version = (p -> 'orphan' ->> 'version')::int;
    if not found then perform stale('transaction'); end if;
  else
    insert into transactions (id, owner_id, agent_id, card_id, intent_id, wallet_id, adapter, authorization_id, funding_source,
        rail, type, status, amount_cents, requested_cents, approved_cents, held_cents, merchant_id, merchant,
        merchant_mcc, merchant_country, merchant_amount, merchant_currency, is_verification, is_recurring,
        decline_rule, decline_reason, hold_expires_at, authorized_at, completed_at, request_id, run_id, created_at,
        updated_at)
      select id, owner_id, agent_id, card_id, intent_id, wallet_id, adapter, authorization_id, funding_source,
        rail, type, status, amount_cents, requested_cents, approved_cents, held_cents, merchant_id, merchant,
        merchant_mcc, merchant_country, merchant_amount, merchant_currency, is_verification, is_recurring,
        decline_rule, decline_reason, hold_expires_at, authorized_at, completed_at, request_id, run_id, created_at,
        updated_at
      from jsonb_populate_record(null::transactions, p -> 'transaction');
  end if;
  v_from := coalesce(p -> 'orphan' ->> 'status', case when p -> 'linked' is not null then 'pending' end);
  if p -> 'orphan' is null or v_from <> p -> 'transaction' ->> 'status' then
    insert into transitions values ('transaction', v_message ->> 'transactionId', v_message ->> 'causeId', v_from,
      p -> 'transaction' ->> 'status', (v_message ->> 'at')::timestamptz);
  end if;
  insert into transaction_events (transaction_id, kind, adapter, network_id, amount_cents, merchant_amount,
      merchant_currency, request_id, at)
    values (v_message ->> 'transactionId', 'authorization', v_message ->> 'adapter', v_message ->> 'id',
      (p -> 'transaction' ->> 'approved_cents')::bigint, (p -> 'transaction' ->> 'merchant_amount')::numeric,
      p -> 'transaction' ->> 'merchant_currency', v_message ->> 'requestId', (v_message ->> 'at')::timestamptz);
  insert into decisions (transaction_id, owner_id, agent_id, card_id, intent_id, outcome, rule, reason, policy_id,
      policy_version, facts, trace, at)
    select transaction_id, owner_id, agent_id, card_id, intent_id, outcome, rule, reason, policy_id, policy_version,
      facts, trace, at
    from jsonb_populate_record(null::decisions, p -> 'decision');
  if v_token ->> 'kind' = 'checkout' then
    update checkouts set status = v_token ->> 'status', transaction_id = v_message ->> 'transactionId',
        outcome_code = v_token ->> 'code', outcome_reason = v_token ->> 'reason',
        updated_at = (v_message ->> 'at')::timestamptz
      where id = v_token ->> 'id' and status in ('offered', 'paying', 'failed', 'refused');
    -- Another charge with the token was decided since. A declined one does not change the version of a recurring intent.
    if exists (select from checkouts where id = v_token ->> 'id' and transaction_id <> v_message ->> 'transactionId') then
      perform stale('checkout');
    end if;
  elsif v_token ->> 'kind' = 'credential' then
    -- The network uses it once, also where the merchant verified it before.
    update mpp_credentials set status = v_token ->> 'status', authorized_at = (v_message ->> 'at')::timestamptz,
        transaction_id = coalesce(transaction_id, v_message ->> 'transactionId'), sealed_credential = null,
        outcome_code = v_token ->> 'code', outcome_reason = v_token ->> 'reason',
        updated_at = (v_message ->> 'at')::timestamptz
      where id = v_token ->> 'id' and status = v_token ->> 'from' and authorized_at is null;
    if not found then perform stale('credential'); end if;
    /* The payment that minted it: its workflow run records the charge, and is opened again where it had ended. While the
       credential is being presented the run needs no wake: its step reads the charge when the merchant has answered. */
    update mpp_payments set charge_source = 'network', transaction_id = v_message ->> 'transactionId',
        charge_outcome = case p -> 'decision' ->> 'outcome' when 'declined' then 'declined' else 'approved' end,
        charge_code = v_token ->> 'code', charge_reason = v_token ->> 'reason',
        updated_at = (v_message ->> 'at')::timestamptz
      where credential_id = v_token ->> 'id' and charge_outcome is distinct from 'approved'
      returning 'mpp-payment/' || id, status into v_run, v_from;
    -- A payment that a receipt, a verification or an operator settled: now the network has said so too.
    if v_run is null and p -> 'decision' ->> 'outcome' <> 'declined' then
      update mpp_payments set charge_source = 'network', updated_at = (v_message ->> 'at')::timestamptz
        where credential_id = v_token ->> 'id';
    end if;
    update workflow_runs set is_open = true, wanted_wake = true, due_at = (v_message ->> 'at')::timestamptz,
        started_epoch = case when is_open then started_epoch end
      where id = v_run and v_from <> 'presenting';
    if v_token ->> 'status' <> v_token ->> 'from' then
      insert into transitions values ('mpp_credential', v_token ->> 'id', v_message ->> 'causeId', v_token ->> 'from',
        v_token ->> 'status', (v_message ->> 'at')::timestamptz);
    end if;
  end if;
  if v_token is not null then
    update workflow_runs set is_open = false, wanted_wake = true, due_at = null
      where id = v_token ->> 'workflowId' and is_open;
  end if;
  insert into events (id, owner_id, agent_id, subject_id, name, data, request_id, run_id, created_at)
    select id, owner_id, agent_id, subject_id, name, data, request_id, run_id, created_at
    from jsonb_populate_recordset(null::events, p -> 'events');
  insert into audit (id, owner_id, agent_id, actor, action, subject_id, details, request_id, source_address, outcome,
      created_at)
    select id, owner_id, agent_id, actor, action, subject_id, details, request_id, source_address, outcome, created_at
    from jsonb_populate_recordset(null::audit, p -> 'audits');
  if jsonb_array_length(p -> 'journals') > 0 then
    perform 1 from post_journals(p -> 'journals');
  end if;
  return jsonb_build_object('known', null);
end $$;
