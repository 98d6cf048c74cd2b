/* Funds wallets, from other wallets of the owner, from outside, or as an announcement of money that is to come: an
   atomic write (atomic-writes.sql) of items {key, funding: {id, ownerId, walletId, fromWalletId, amountCents, status,
   isSimulated, journalId, reference, createdAt}, most, journal or null, events, audits}. `most` is how many fundings an
   owner may have on one day. Refusals: no_wallet, same_wallet, no_source, closed, source_closed, source_frozen, limit
   {used, most}, not_enough {account, balanceCents, askedCents}, out_of_range. */
create or replace function fund_wallets(p_items jsonb) returns table (outcome text, result jsonb) language plpgsql
  security definer set search_path = public, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off set lock_timeout = '250ms'
as $$
#variable_conflict use_column
declare
  -- By ordinal.
  i_outcome text[];
  i_result jsonb[];
  i_owner text[];
  i_wallet text[];
  i_source text[];
  i_at timestamptz[];
  i_balances jsonb[];
  v_fresh int[];
  v_posted int[];
  v_results jsonb[];
  v_one record;
  v_has_keyless boolean;
begin
  return query select * from fund_plainly(p_items);
  if found then return; end if;

  select array_agg(null::text), array_agg(null::jsonb), array_agg(null::jsonb),
      array_agg(f ->> 'ownerId' order by n), array_agg(f ->> 'walletId' order by n),
      array_agg(f ->> 'fromWalletId' order by n), array_agg((f ->> 'createdAt')::timestamptz order by n),
      bool_or(jsonb_typeof(key) is distinct from 'object')
    into i_outcome, i_result, i_balances, i_owner, i_wallet, i_source, i_at, v_has_keyless
    from (
      select n, value -> 'funding' as f, value -> 'key' as key
      from jsonb_array_elements(p_items) with ordinality d (value, n)
    ) d;

  perform lock_keys(p_items);
  for v_one in select * from known_answers(p_items) loop
    i_outcome[v_one.ordinal] := v_one.outcome;
    i_result[v_one.ordinal] := v_one.result;
  end loop;
  -- A batch whose end was not heard of is repeated, and finds what it wrote: known_answers did so for items with a key.
  -- All three columns, so that every index that PostgreSQL could choose leads to the one row.
  if v_has_keyless then
    for v_one in
      select d.n, funding_result(f.id, f.owner_id, f.wallet_id, f.amount_cents, f.balance_cents, f.status,
          f.is_simulated, f.reference, f.created_at, w.iban, w.bic) as result
      from jsonb_array_elements(p_items) with ordinality d (value, n)
      cross join lateral (
        select * from fundings f
          where f.owner_id = i_owner[d.n] and f.created_at = i_at[d.n] and f.id = d.value -> 'funding' ->> 'id' offset 0
      ) f
      join wallets w on w.id = i_wallet[d.n]
      where i_outcome[d.n] is null and jsonb_typeof(d.value -> 'key') is distinct from 'object'
    loop
      i_outcome[v_one.n] := 'done';
      i_result[v_one.n] := v_one.result;
    end loop;
  end if;

  for v_one in
    select n, case
        when w.id is null then 'no_wallet'
        when i_source[n] = i_wallet[n] then 'same_wallet'
        when i_source[n] is not null and s.id is null then 'no_source' end as why
    from generate_subscripts(i_outcome, 1) n
    left join wallets w on w.id = i_wallet[n] and w.owner_id = i_owner[n]
    left join wallets s on s.id = i_source[n] and s.owner_id = i_owner[n]
    where i_outcome[n] is null
      and (w.id is null or i_source[n] = i_wallet[n] or (i_source[n] is not null and s.id is null))
  loop
    i_outcome[v_one.n] := v_one.why;
  end loop;
  v_fresh := array(select n from generate_subscripts(i_outcome, 1) n where i_outcome[n] is null order by n);
  if cardinality(v_fresh) > 0 then
    perform lock_funding_days(array(select i_owner[n] from unnest(v_fresh) n), array(select i_at[n] from unnest(v_fresh) n));
    perform hold_accounts(array_agg('wallet:' || h.wallet || ':available'), array_agg(i_owner[h.n]), i_at[v_fresh[1]])
      from (
        select n, unnest(array_remove(array[i_wallet[n], i_source[n]], null)) as wallet from unnest(v_fresh) n
        where jsonb_typeof(p_items -> (n - 1) -> 'journal') = 'object'
      ) h having count(*) > 0;

    -- Closing a wallet locks its accounts, so its state is known now.
    for v_one in
      select n, case when w.status = 'closed' then 'closed'
          when s.status is not null and s.status <> 'active' then 'source_' || s.status end as why
      from unnest(v_fresh) n join wallets w on w.id = i_wallet[n] left join wallets s on s.id = i_source[n]
      where w.status = 'closed' or s.status <> 'active'
    loop
      i_outcome[v_one.n] := v_one.why;
    end loop;
    -- Several items may share the rest of the day's limit: the later ones wait for the outcome of the first ones.
    for v_one in
      select c.n, c.most, d.fundings as used, case when d.fundings >= c.most then 'limit'
          when d.fundings + c.nth > c.most then 'again' end as why
      from (
        select n, coalesce(
            (select l.most from owner_limits l where l.owner_id = i_owner[n] and l.name = 'fundings'),
            (p_items -> (n - 1) ->> 'most')::int) as most,
          row_number() over (partition by i_owner[n] order by n) as nth
        from unnest(v_fresh) n where i_outcome[n] is null
      ) c join funding_days d on d.owner_id = i_owner[c.n]
      where d.fundings + c.nth > c.most
    loop
      i_outcome[v_one.n] := v_one.why;
      i_result[v_one.n] := jsonb_build_object('used', v_one.used, 'most', v_one.most);
    end loop;
    v_fresh := array(select n from unnest(v_fresh) n where i_outcome[n] is null order by n);
  end if;

  if cardinality(v_fresh) > 0 then
    v_posted := array(select n from unnest(v_fresh) n where jsonb_typeof(p_items -> (n - 1) -> 'journal') = 'object' order by n);
    for v_one in
      select v_posted[p.ordinal] as n, p.outcome, p.balances, p.detail
      from post_each((select jsonb_agg(p_items -> (n - 1) -> 'journal' order by nth) from unnest(v_posted) with ordinality d (n, nth))) p
    loop
      if v_one.outcome = 'posted' then
        i_balances[v_one.n] := v_one.balances;
      elsif v_one.outcome in ('not_enough', 'out_of_range') then
        i_outcome[v_one.n] := v_one.outcome;
        i_result[v_one.n] := v_one.detail;
      else
        perform refuse_journal(coalesce(nullif(v_one.outcome, 'already'), 'other_content'), v_one.detail,
          p_items -> (v_one.n - 1) -> 'journal' ->> 'cause', p_items -> (v_one.n - 1) -> 'journal' ->> 'id');
      end if;
    end loop;
    v_fresh := array(select n from unnest(v_fresh) n where i_outcome[n] is null order by n);
  end if;

  if cardinality(v_fresh) > 0 then
    -- What settled a debt never reached the wallet, and what is announced has not arrived.
    for v_one in
      select n, a.name, coalesce((i_balances[n] ->> a.name)::bigint, a.balance_cents) as balance_cents
      from unnest(v_fresh) n join ledger_accounts a on a.name = 'wallet:' || i_wallet[n] || ':available'
      where i_balances[n] is null or not i_balances[n] ? a.name
    loop
      i_balances[v_one.n] := coalesce(i_balances[v_one.n], '{}') || jsonb_build_object(v_one.name, v_one.balance_cents);
    end loop;
    with fresh as materialized (
      select nth, n, i.*, i_at[n] as at,
        coalesce((i_balances[n] ->> ('wallet:' || i_wallet[n] || ':available'))::bigint, 0) as balance
      from unnest(v_fresh) with ordinality d (n, nth)
      cross join lateral jsonb_to_record(p_items -> (n - 1) -> 'funding') as i ("id" text, "ownerId" text, "walletId" text,
        "fromWalletId" text, "amountCents" bigint, "status" text, "isSimulated" boolean, "journalId" text, "reference" text)
    ), added as (
      insert into fundings (id, owner_id, wallet_id, from_wallet_id, amount_cents, balance_cents, status, is_simulated,
          journal_id, reference, created_at)
        select f."id", f."ownerId", f."walletId", f."fromWalletId", f."amountCents", f.balance, f."status",
          f."isSimulated", f."journalId", f."reference", f.at
        from fresh f order by f.nth
    ), counted as (
      update funding_days d set fundings = d.fundings + c.count
        from (select "ownerId" as owner_id, count(*)::int as count from fresh group by 1) c
        where d.owner_id = c.owner_id
    )
    select array_agg(funding_result(f."id", f."ownerId", f."walletId", f."amountCents", f.balance, f."status",
        f."isSimulated", f."reference", f.at, w.iban, w.bic) order by f.nth)
      into v_results from fresh f join wallets w on w.id = f."walletId";
    for v_nth in 1..cardinality(v_fresh) loop
      i_outcome[v_fresh[v_nth]] := 'done';
      i_result[v_fresh[v_nth]] := v_results[v_nth];
    end loop;
    perform record_items(p_items, v_fresh, array(select coalesce(i_balances[n], '{}') from unnest(v_fresh) n));
    perform keep_answers(p_items, v_fresh, v_results);
  end if;

  return query select o.outcome, o.result from unnest(i_outcome, i_result) with ordinality o (outcome, result, n) order by o.n;
end $$;

-- The record of a funding as findFunding returns it.
create or replace function funding_result(p_id text, p_owner text, p_wallet text, p_amount bigint, p_balance bigint,
    p_status text, p_is_simulated boolean, p_reference text, p_at timestamptz, p_iban text, p_bic text)
  returns jsonb language sql stable as $$
  select jsonb_build_object('id', p_id, 'ownerId', p_owner, 'walletId', p_wallet, 'amountCents', p_amount,
    'balanceCents', p_balance, 'status', p_status, 'isSimulated', p_is_simulated, 'reference', p_reference,
    'createdAt', to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'iban', p_iban, 'bic', p_bic)
$$;

-- Locks the owners' counts of today's fundings, in the owners' order; the first funding of a day begins a count.
create or replace function lock_funding_days(p_owners text[], p_at timestamptz[]) returns void language plpgsql as $$
begin
  insert into funding_days as d (owner_id, day, fundings)
    select o.owner_id, o.day, (select count(*) from fundings f where f.owner_id = o.owner_id and f.created_at >= o.day at time zone 'UTC')
    from (select owner_id, max((at at time zone 'UTC')::date) as day from unnest(p_owners, p_at) o (owner_id, at) group by 1) o
    where not exists (select from funding_days d where d.owner_id = o.owner_id and d.day >= o.day)
    order by o.owner_id
    on conflict (owner_id) do update set day = excluded.day, fundings = excluded.fundings where d.day < excluded.day;
  perform from funding_days d where d.owner_id = any(p_owners) order by d.owner_id for no key update;
end $$;
