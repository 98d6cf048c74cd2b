/* Funds wallets, from other wallets of the owner, from outside, or as an announcement of money that is to come: an
   atomic write (atomic-writes.sql) of items {key, funding: {id, ownerId, walletId, fromWalletId, amountCents, status,
   isSimulated, journalId, reference, createdAt}, most, journal or null, events, audits}. `most` is how many fundings an
   owner may have on one day. Refusals: no_wallet, same_wallet, no_source, closed, source_closed, source_frozen, limit
   {used, most}, not_enough {account, balanceCents, askedCents}, out_of_range. */
create or replace function fund_wallets(p_items jsonb) returns table (outcome text, result jsonb) language plpgsql
  security definer set search_path = public, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off
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
  v_one record;
begin
  select array_agg(null::text), array_agg(null::jsonb), array_agg(null::jsonb),
      array_agg(f ->> 'ownerId' order by n), array_agg(f ->> 'walletId' order by n),
      array_agg(f ->> 'fromWalletId' order by n), array_agg((f ->> 'createdAt')::timestamptz order by n)
    into i_outcome, i_result, i_balances, i_owner, i_wallet, i_source, i_at
    from (select n, value -> 'funding' as f from jsonb_array_elements(p_items) with ordinality d (value, n)) d;

  for v_one in select * from known_answers(p_items) loop
    i_outcome[v_one.ordinal] := v_one.outcome;
    i_result[v_one.ordinal] := v_one.result;
  end loop;
  -- Without a key: a batch whose end was not heard of is repeated, and finds what it wrote.
  for v_one in
    select d.n, funding_result(f) as result from jsonb_array_elements(p_items) with ordinality d (value, n)
    join fundings f on f.id = d.value -> 'funding' ->> 'id' and f.owner_id = d.value -> 'funding' ->> 'ownerId'
    where i_outcome[d.n] is null
  loop
    i_outcome[v_one.n] := 'done';
    i_result[v_one.n] := v_one.result;
  end loop;

  for v_one in
    select n, case
        when w.id is null then 'no_wallet'
        when i_source[n] = i_wallet[n] then 'same_wallet'
        when i_source[n] is not null and s.id is null then 'no_source' end as why
    from generate_subscripts(i_outcome, 1) n
    left join wallets w on w.id = i_wallet[n] and w.owner_id = i_owner[n]
    left join wallets s on s.id = i_source[n] and s.owner_id = i_owner[n]
    where i_outcome[n] is null
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
    for v_one in
      with added as (
        insert into fundings as f (id, owner_id, wallet_id, from_wallet_id, amount_cents, balance_cents, status,
            is_simulated, journal_id, reference, created_at)
          select f ->> 'id', f ->> 'ownerId', f ->> 'walletId', f ->> 'fromWalletId', (f ->> 'amountCents')::bigint,
            coalesce((i_balances[n] ->> ('wallet:' || i_wallet[n] || ':available'))::bigint, 0), f ->> 'status',
            (f ->> 'isSimulated')::boolean, f ->> 'journalId', f ->> 'reference', i_at[n]
          from unnest(v_fresh) n cross join lateral (select p_items -> (n - 1) -> 'funding' as f) d
          order by n
        returning *
      )
      select n, funding_result(row(a.*)::fundings) as result
      from unnest(v_fresh) n join added a on a.id = p_items -> (n - 1) -> 'funding' ->> 'id'
    loop
      i_outcome[v_one.n] := 'done';
      i_result[v_one.n] := v_one.result;
    end loop;
    perform record_items(p_items, v_fresh, array(select coalesce(i_balances[n], '{}') from unnest(v_fresh) n));
    update funding_days d set fundings = d.fundings + c.count
      from (select i_owner[n] as owner_id, count(*)::int as count from unnest(v_fresh) n group by 1) c
      where d.owner_id = c.owner_id;
    perform keep_answers(p_items, v_fresh, array(select i_result[n] from unnest(v_fresh) n));
  end if;

  return query select o.outcome, o.result from unnest(i_outcome, i_result) with ordinality o (outcome, result, n) order by o.n;
end $$;

-- The record of a funding as findFunding returns it.
create or replace function funding_result(f fundings) returns jsonb language sql stable as $$
  select jsonb_build_object('id', f.id, 'ownerId', f.owner_id, 'walletId', f.wallet_id, 'amountCents', f.amount_cents,
    'balanceCents', f.balance_cents, 'status', f.status, 'isSimulated', f.is_simulated, 'reference', f.reference,
    'createdAt', to_char(f.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'iban', w.iban, 'bic', w.bic)
  from wallets w where w.id = f.wallet_id
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
