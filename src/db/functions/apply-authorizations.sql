/* Writes decisions that have nothing rare about them (authorization-batch.ts says what is): each as apply_authorization
   would alone, or not at all. Answers which were written, by their order. An item is left, and decided anew by its
   caller, where another transaction has hold of something of it, a version has moved, its message is known or messages
   wait for it, or the money is gone: so contention never decides.
   All locks come before the first row of a decision is written. Those of an item are tried and never waited for, so they
   need no order; the ledger accounts of all come last, and alone are waited for, in name order, up to the lock_timeout.
   A caller whom that has ended asks again and says that nothing `waits`: then accounts are tried too, and what would have
   to begin a count or an account is left, since a row that another transaction has not committed cannot be tried.
   `p`: {waits, items: [{n, adapter, id, cardRef, requestHash, transactionId, causeId, requestId, at, answer, status,
   approvedCents, merchantAmount, merchantCurrency, holdCents, ownerId, fundingSource, expected: null or {agentId,
   revision, agentVersion, cardId, cardVersion, policyId, policyVersion}, intent: null or that of apply_authorization}],
   transactions, decisions, events, audits, journals}; an event and an audit row name their item's transaction as `of`. */
create or replace function apply_authorizations(p jsonb) returns boolean[] language plpgsql
  security definer set search_path = public, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off set lock_timeout = '250ms' as $$
declare
  v_items int;
  -- The items that are still to be written, and their transactions.
  v_fresh int[];
  v_of text[];
  -- By ordinal: what an item is decided from; nulls where it was declined.
  i_adapter text[];
  i_id text[];
  i_of text[];
  i_agent text[];
  i_revision bigint[];
  i_agent_version int[];
  i_card text[];
  i_card_version int[];
  i_policy text[];
  i_policy_version int[];
  i_intent text[];
  i_intent_version int[];
  i_owner text[];
  i_source text[];
  i_hold bigint[];
  v_left int[];
  v_has_intents boolean;
  v_has_holds boolean;
  v_is_all boolean;
  v_journals jsonb;
  v_accounts text[];
  v_why text;
begin
  select count(*), array_agg(i.n) filter (where i.is_free), array_agg(i.adapter), array_agg(i.id), array_agg(i."transactionId"),
      array_agg(i.expected ->> 'agentId'), array_agg((i.expected ->> 'revision')::bigint),
      array_agg((i.expected ->> 'agentVersion')::int), array_agg(i.expected ->> 'cardId'),
      array_agg((i.expected ->> 'cardVersion')::int), array_agg(i.expected ->> 'policyId'),
      array_agg((i.expected ->> 'policyVersion')::int), array_agg(i.intent ->> 'id'), array_agg((i.intent ->> 'version')::int),
      array_agg(i."ownerId"), array_agg(i."fundingSource"), array_agg(i."holdCents"),
      bool_or(i.intent ->> 'id' is not null), bool_or(i."holdCents" > 0)
    into v_items, v_fresh, i_adapter, i_id, i_of, i_agent, i_revision, i_agent_version, i_card, i_card_version, i_policy,
      i_policy_version, i_intent, i_intent_version, i_owner, i_source, i_hold, v_has_intents, v_has_holds
    from (
      select *, pg_try_advisory_xact_lock(hashtextextended(adapter || '/' || id, 140)) as is_free
      from jsonb_to_recordset(p -> 'items') as d (n int, adapter text, id text, "transactionId" text, "ownerId" text,
        "fundingSource" text, "holdCents" bigint, expected jsonb, intent jsonb)
      order by n offset 0
    ) i;

  -- What is said of an authorization stands still under its lock. With `limit` each is looked up by its key; for `exists`, a
  -- plan that was made while the table was small would read all of them.
  v_fresh := array(select n from unnest(v_fresh) n
    where (select true from network_messages m
        where m.adapter = i_adapter[n] and m.id = i_id[n] and m.kind = 'authorization' limit 1) is null
      and (select true from network_messages m
        where m.adapter = i_adapter[n] and m.authorization_id = i_id[n] and m.is_waiting limit 1) is null);

  -- The first payment of an agent begins its count, in the agents' order, while nothing else of another is locked.
  if 0 = any (i_revision) and (p ->> 'waits')::boolean then
    insert into agent_spending (agent_id, revision)
      select distinct i_agent[n], 0 from unnest(v_fresh) n
      where i_revision[n] = 0 and not exists (select from agent_spending s where s.agent_id = i_agent[n]) order by 1
      on conflict do nothing;
  end if;
  v_left := array(
    select q.n from unnest(i_agent, i_revision, i_agent_version, i_card, i_card_version, i_policy, i_policy_version)
        with ordinality q (agent, revision, agent_version, card, card_version, policy, policy_version, n)
      join agent_spending s on s.agent_id = q.agent and s.revision = q.revision
      join agents a on a.id = q.agent and a.version = q.agent_version
      join cards c on c.id = q.card and c.version = q.card_version
      join policies o on o.id = q.policy and o.version = q.policy_version and o.removed_at is null
      where q.n = any (v_fresh)
      for no key update of s skip locked for share of a, c, o skip locked);
  if array_position(i_agent, null) is null then
    v_fresh := v_left;
  else
    v_fresh := array(select n from unnest(v_fresh) n where i_agent[n] is null or n = any (v_left));
  end if;

  if v_has_intents then
    v_left := array(
      select q.n from unnest(i_intent, i_intent_version) with ordinality q (intent, version, n)
        join intents i on i.id = q.intent and i.version = q.version
        where q.n = any (v_fresh)
        for no key update of i skip locked);
    v_fresh := array(select n from unnest(v_fresh) n where i_intent[n] is null or n = any (v_left));
  end if;

  if not (p ->> 'waits')::boolean then
    v_accounts := array(
      select l.name from ledger_accounts l
      where l.name = any (array(select i_source[n] || part from unnest(v_fresh) n
        cross join unnest(array[':available', ':held']) part where i_hold[n] > 0))
      for no key update skip locked);
    v_fresh := array(select n from unnest(v_fresh) n
      where i_hold[n] = 0 or array[i_source[n] || ':available', i_source[n] || ':held'] <@ v_accounts order by n);
  end if;

  if v_has_holds then
    perform hold_accounts(array_agg(i_source[n] || part), array_agg(i_owner[n]), clock_timestamp())
      from unnest(v_fresh) n cross join unnest(array[':available', ':held']) part where i_hold[n] > 0;
    -- As if one came after the other; what no longer fits after those before it is decided by the money that is left.
    v_left := array(
      select q.n from (
        select n, i_source[n] as source, sum(i_hold[n]) over (partition by i_source[n] order by n) as asked_cents
        from unnest(v_fresh) n where i_hold[n] > 0
      ) q join ledger_accounts l on l.name = q.source || ':available'
      where q.asked_cents <= l.balance_cents);
    v_fresh := array(select n from unnest(v_fresh) n where i_hold[n] = 0 or n = any (v_left));
  end if;

  if v_fresh = '{}' then return array_fill(false, array[v_items]); end if;
  v_is_all := cardinality(v_fresh) = v_items;
  if v_is_all then
    v_of := i_of;
  else
    v_of := array(select i_of[n] from unnest(v_fresh) n);
  end if;

  update agent_spending s set revision = s.revision + 1
    where s.agent_id = any (array(select i_agent[n] from unnest(v_fresh) n where i_agent[n] is not null));
  insert into network_messages (adapter, id, kind, authorization_id, card_ref, request_hash, transaction_id, answer,
      request_id, received_at)
    select i.adapter, i.id, 'authorization', i.id, i."cardRef", i."requestHash", i."transactionId", i.answer, i."requestId",
      i.at
    from jsonb_to_recordset(p -> 'items') as i (n int, adapter text, id text, "cardRef" text, "requestHash" text,
      "transactionId" text, answer jsonb, "requestId" text, at timestamptz)
    where i.n = any (v_fresh);
  if v_has_intents then
    perform match_intents(array(
      select jsonb_build_object('at', i.at, 'causeId', i."causeId") || i.intent
      from jsonb_to_recordset(p -> 'items') as i (n int, "causeId" text, at timestamptz, intent jsonb)
      where i.n = any (v_fresh) and i_intent[i.n] is not null));
  end if;
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
    from jsonb_populate_recordset(null::transactions, p -> 'transactions') where id = any (v_of);
  insert into transitions
    select 'transaction', i."transactionId", i."causeId", null, i.status, i.at
    from jsonb_to_recordset(p -> 'items') as i (n int, "transactionId" text, "causeId" text, status text, at timestamptz)
    where i.n = any (v_fresh);
  insert into transaction_events (transaction_id, kind, adapter, network_id, amount_cents, merchant_amount,
      merchant_currency, request_id, at)
    select i."transactionId", 'authorization', i.adapter, i.id, i."approvedCents", i."merchantAmount",
      i."merchantCurrency", i."requestId", i.at
    from jsonb_to_recordset(p -> 'items') as i (n int, adapter text, id text, "transactionId" text, "approvedCents" bigint,
      "merchantAmount" numeric, "merchantCurrency" text, "requestId" text, at timestamptz)
    where i.n = any (v_fresh) order by i.n;
  insert into decisions (transaction_id, owner_id, agent_id, card_id, intent_id, outcome, rule, reason, policy_id,
      policy_version, facts, trace, at)
    select transaction_id, owner_id, agent_id, card_id, intent_id, outcome, rule, reason, policy_id, policy_version,
      facts, trace, at
    from jsonb_populate_recordset(null::decisions, p -> 'decisions') where transaction_id = any (v_of);
  insert into events (id, owner_id, agent_id, subject_id, name, data, request_id, run_id, created_at)
    select id, owner_id, agent_id, subject_id, name, data, request_id, run_id, created_at
    from jsonb_to_recordset(p -> 'events') as e (of text, id text, owner_id text, agent_id text, subject_id text, name text,
      data jsonb, request_id text, run_id text, created_at timestamptz)
    where of = any (v_of);
  insert into audit (id, owner_id, agent_id, actor, action, subject_id, details, request_id, source_address, outcome,
      created_at)
    select id, owner_id, agent_id, actor, action, subject_id, details, request_id, source_address, outcome, created_at
    from jsonb_to_recordset(p -> 'audits') as a (of text, id text, owner_id text, agent_id text, actor text, action text,
      subject_id text, details jsonb, request_id text, source_address text, outcome text, created_at timestamptz)
    where of = any (v_of);
  if v_has_holds then
    -- Nothing stands in the way of these journals, so one that is not posted is a fault, and nothing stays written.
    v_journals := p -> 'journals';
    if not v_is_all then
      v_journals := (select jsonb_agg(j.value order by j.n) from jsonb_array_elements(v_journals) with ordinality j (value, n)
        where j.value ->> 'referenceId' = any (v_of));
    end if;
    select o.outcome into v_why from post_each(v_journals, true) o where o.outcome <> 'posted' limit 1;
    if found then raise exception 'the hold of a decision could not be posted: %', v_why; end if;
  end if;
  if v_is_all then return array_fill(true, array[v_items]); end if;
  return array(select n = any (v_fresh) from generate_series(1, v_items) n order by n);
end $$;

/* The intents of charges that were approved, each [{id, version, from, to, matchedTransactionId, transactionId, isFinal,
   workflowId, at, causeId}]; the rows are locked. */
create or replace function match_intents(p_intents jsonb[]) returns void language plpgsql as $$
begin
  update intents i set status = m.value ->> 'to', matched_transaction_id = m.value ->> 'matchedTransactionId',
      transaction_id = m.value ->> 'transactionId', denied_reason = m.value ->> 'deniedReason',
      updated_at = (m.value ->> 'at')::timestamptz
    from unnest(p_intents) m (value) where i.id = m.value ->> 'id';
  insert into transitions
    select 'intent', value ->> 'id', value ->> 'causeId', value ->> 'from', value ->> 'to', (value ->> 'at')::timestamptz
    from unnest(p_intents) m (value);
  -- A matched intent has no deadline; its run is woken to say so, and not to read "then it expires" till the clearing.
  update workflow_runs r set is_open = r.is_open and not (m.value ->> 'isFinal')::boolean, wanted_wake = true,
      due_at = case when (m.value ->> 'isFinal')::boolean then null else (m.value ->> 'dueAt')::timestamptz end
    from unnest(p_intents) m (value) where r.id = m.value ->> 'workflowId' and r.is_open;
end $$;
