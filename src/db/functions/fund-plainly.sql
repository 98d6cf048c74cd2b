/* What fund_wallets mostly is asked for, in few statements: each item has a new key, moves money from one
   open wallet to another of the same owner, and every account has enough. Answers nothing where that is not so, and has
   then locked, in the order of atomic writes, and changed nothing: fund_wallets finds out what is wrong with which item.
   Runs under the settings of fund_wallets. */
create or replace function fund_plainly(p_items jsonb) returns table (outcome text, result jsonb) language plpgsql as $$
#variable_conflict use_column
declare
  c_most constant bigint := 9007199254740991;
  v_count int := jsonb_array_length(p_items);
  v_is_plain boolean;
  v_names text[];
  -- By ordinal.
  i_owner text[];
  i_source text[];
  i_target text[];
  i_debited text[];
  i_credited text[];
  i_cents bigint[];
  i_at timestamptz[];
  i_most int[];
  i_key jsonb[];
  i_lock bigint[];
  i_iban text[];
  i_bic text[];
  -- The lines, two for each item: that of the source first.
  e_account text[];
  e_after bigint[];
  e_version bigint[];
  -- The accounts, and the state that the lines bring them into.
  a_name text[];
  a_balance bigint[];
  a_debited bigint[];
  a_credited bigint[];
  a_version bigint[];
  a_last timestamptz[];
begin
  -- Who holds accounts already has more to post than these items.
  if nullif(current_setting('bursar.locked_accounts', true), '') is not null then return; end if;
  select array_agg(i.owner), array_agg(i.source), array_agg(i.target), array_agg(i.debited), array_agg(i.credited),
      array_agg(i.cents), array_agg(i.at), array_agg(i.most), array_agg(i.key), array_agg(key_lock(i.key)),
      bool_and((jsonb_typeof(i.key) = 'object' and i.source <> i.target and i.cents > 0 and i.journal ->> 'memo' is null
        and i.journal ->> 'ownerId' = i.owner
        and i.journal -> 'postings' = jsonb_build_array(
          jsonb_build_object('account', i.debited, 'amountCents', -i.cents),
          jsonb_build_object('account', i.credited, 'amountCents', i.cents))) is true)
    into i_owner, i_source, i_target, i_debited, i_credited, i_cents, i_at, i_most, i_key, i_lock, v_is_plain
    from (
      select f ->> 'ownerId' as owner, f ->> 'fromWalletId' as source, f ->> 'walletId' as target,
        'wallet:' || (f ->> 'fromWalletId') || ':available' as debited,
        'wallet:' || (f ->> 'walletId') || ':available' as credited,
        whole_cents(f -> 'amountCents') as cents, (f ->> 'createdAt')::timestamptz as at, most, key, journal
      from (
        select value -> 'funding' as f, (value ->> 'most')::int as most, value -> 'key' as key, value -> 'journal' as journal
        from jsonb_array_elements(p_items) offset 0
      ) d offset 0
    ) i;
  if v_is_plain is not true then return; end if;

  perform pg_advisory_xact_lock(k.id) from (select distinct id from unnest(i_lock) k (id) order by 1) k;
  perform from funding_days d where d.owner_id = any(i_owner) order by d.owner_id for no key update;
  -- The day of an owner is begun by fund_wallets, before any account is locked.
  if exists (select from unnest(i_owner, i_at) i (owner, at) where not exists (
      select from funding_days d where d.owner_id = i.owner and d.day >= (i.at at time zone 'UTC')::date))
  then return; end if;
  -- An account is made before any is locked, and never changes its owner. What locks reads nothing else: a join would be
  -- read again for each row that has changed meanwhile, and over a union with another line than before.
  select array_agg(n.name), bool_and(a.owner_id is not distinct from n.owner) into v_names, v_is_plain
    from (select distinct name, owner from unnest(i_debited || i_credited, i_owner || i_owner) l (name, owner)) n
    left join ledger_accounts a on a.name = n.name;
  if v_is_plain is not true then return; end if;
  perform from ledger_accounts a where a.name = any(v_names) order by a.name for no key update;
  perform set_config('bursar.locked_accounts', array_to_string(v_names, ','), true);

  select array_agg(l.account), array_agg(l.after), array_agg(l.version),
      array_agg(l.account) filter (where l.is_last), array_agg(l.after) filter (where l.is_last),
      array_agg(l.debited) filter (where l.is_last), array_agg(l.credited) filter (where l.is_last),
      array_agg(l.version) filter (where l.is_last), array_agg(l.latest) filter (where l.is_last),
      bool_and(l.at >= l.latest) and min(l.after) >= 0 and max(greatest(l.debited, l.credited)) <= c_most
    into e_account, e_after, e_version, a_name, a_balance, a_debited, a_credited, a_version, a_last, v_is_plain
    from (
      select l.nth, l.account, l.at, a.balance_cents + (sum(l.amount) over w)::bigint as after,
        a.debited_cents - (sum(least(l.amount, 0)) over w)::bigint as debited,
        a.credited_cents + (sum(greatest(l.amount, 0)) over w)::bigint as credited,
        a.version + row_number() over w as version, lead(l.nth) over w is null as is_last,
        greatest(a.last_entry_at, max(l.at) over w) as latest
      from (
        select 2 * i.n - 1 as nth, i.account, -i.cents as amount, i.at
          from unnest(i_debited, i_cents, i_at) with ordinality i (account, cents, at, n)
        union all
        select 2 * i.n, i.account, i.cents, i.at
          from unnest(i_credited, i_cents, i_at) with ordinality i (account, cents, at, n)
      ) l
      cross join lateral (select * from ledger_accounts a where a.name = l.account offset 0) a
      window w as (partition by l.account order by l.nth)
      order by l.nth
    ) l;
  if v_is_plain is not true then return; end if;

  -- Each row is looked up by its key: a plan that was made while a table was empty must not read it whole.
  -- Closing a wallet locks its accounts, and a call with one of the keys takes its lock: both are known now. So is how many
  -- fundings each owner has had on a day that has begun.
  select count(*) = v_count and (
      select bool_and(coalesce(d.day >= o.day and d.fundings + o.items <= coalesce(l.most, o.most), false))
      from (
        select owner, count(*) as items, max((at at time zone 'UTC')::date) as day, min(most) as most
        from unnest(i_owner, i_at, i_most) i (owner, at, most) group by owner
      ) o
      left join funding_days d on d.owner_id = o.owner
      left join owner_limits l on l.owner_id = o.owner and l.name = 'fundings'
    ), array_agg(i.iban), array_agg(i.bic) into v_is_plain, i_iban, i_bic
    from (
      select w.iban, w.bic
      from unnest(i_owner, i_source, i_target, i_key) with ordinality i (owner, source, target, key, n)
      cross join lateral (select * from wallets w where w.id = i.target offset 0) w
      cross join lateral (select * from wallets s where s.id = i.source offset 0) s
      where w.owner_id = i.owner and w.status <> 'closed' and s.owner_id = i.owner and s.status = 'active'
        and not exists (
          select from idempotency k where k.owner_id = i.key ->> 'ownerId' and k.caller_kind = i.key ->> 'callerKind'
            and k.agent_id = i.key ->> 'agentId' and k.key = i.key ->> 'key' offset 0)
      order by i.n
    ) i;
  if v_is_plain is not true then return; end if;

  return query with items as materialized (
    select n::int as n, value -> 'key' as key, value -> 'funding' as f, value -> 'journal' as j, value -> 'events' as events,
      value -> 'audits' as audits, e_after[2 * n] as after
    from jsonb_array_elements(p_items) with ordinality d (value, n)
  ), answers as materialized (
    select n, key, funding_result(f ->> 'id', i_owner[n], i_target[n], i_cents[n], after, f ->> 'status',
      (f -> 'isSimulated')::boolean, f ->> 'reference', i_at[n], i_iban[n], i_bic[n]) as result
    from items
  ), entered as (
    insert into journals (id, owner_id, agent_id, kind, reference_type, reference_id, cause, memo_commitment, request_id,
        run_id, created_at, content_hash)
      select j ->> 'id', i_owner[n], j ->> 'agentId', j ->> 'kind', j ->> 'referenceType', j ->> 'referenceId', j ->> 'cause',
        j ->> 'memoCommitment', j ->> 'requestId', j ->> 'runId', i_at[n], journal_content_hash(j)
      from items
  ), lines as (
    insert into ledger_entries (journal_id, line, account, amount_cents, balance_before_cents, balance_after_cents,
        account_version, created_at)
      select j ->> 'id', line, e_account[2 * n - 1 + line], change, e_after[2 * n - 1 + line] - change,
        e_after[2 * n - 1 + line], e_version[2 * n - 1 + line], i_at[n]
      from (select n, j, line, case line when 0 then -i_cents[n] else i_cents[n] end as change
        from items, generate_series(0, 1) line) i
  ), to_seal as (
    insert into unsealed_journals (journal_id, owner_id) select j ->> 'id', i_owner[n] from items order by n
  ), moved as (
    update ledger_accounts a set balance_cents = s.balance, debited_cents = s.debited, credited_cents = s.credited,
        version = s.version, last_entry_at = s.last
      from unnest(a_name, a_balance, a_debited, a_credited, a_version, a_last) s (name, balance, debited, credited, version, last)
      where a.name = s.name and a.name = any(a_name)
  ), added as (
    insert into fundings (id, owner_id, wallet_id, from_wallet_id, amount_cents, balance_cents, status, is_simulated,
        journal_id, reference, created_at)
      select f ->> 'id', i_owner[n], i_target[n], i_source[n], i_cents[n], after, f ->> 'status', (f -> 'isSimulated')::boolean,
        f ->> 'journalId', f ->> 'reference', i_at[n]
      from items
  ), counted as (
    update funding_days d set fundings = d.fundings + c.items
      from (select owner, count(*)::int as items from unnest(i_owner) i (owner) group by owner) c
      where d.owner_id = c.owner
  ), told as (
    insert into events (id, owner_id, agent_id, subject_id, name, data, request_id, run_id, created_at)
      select e.id, e.owner_id, e.agent_id, e.subject_id, e.name,
        case when e.balance_of is null then e.data else e.data || jsonb_build_object('balanceEuros', trim_scale(
          (case e.balance_of when e_account[2 * i.n] then i.after when e_account[2 * i.n - 1] then e_after[2 * i.n - 1] end)::numeric / 100)) end,
        e.request_id, e.run_id, e.created_at
      from items i
      cross join lateral rows from (jsonb_to_recordset(i.events) as (id text, owner_id text,
        agent_id text, subject_id text, name text, data jsonb, request_id text, run_id text, created_at timestamptz,
        balance_of text)) with ordinality e (id, owner_id, agent_id, subject_id, name, data, request_id, run_id,
        created_at, balance_of, line)
      order by i.n, e.line
  ), audited as (
    insert into audit (id, owner_id, agent_id, actor, action, subject_id, details, request_id, source_address, outcome,
        created_at)
      select a.* from items i
      cross join lateral jsonb_to_recordset(i.audits) as a (id text, owner_id text, agent_id text,
        actor text, action text, subject_id text, details jsonb, request_id text, source_address text, outcome text,
        created_at timestamptz)
  ), kept as (
    insert into idempotency (owner_id, caller_kind, agent_id, key, method, path, request_hash, seed, seed_ms, lease_token,
        status, body)
      select key ->> 'ownerId', key ->> 'callerKind', key ->> 'agentId', key ->> 'key', key ->> 'method', key ->> 'path',
        key ->> 'requestHash', key ->> 'seed', (key ->> 'seedMs')::bigint, '', 200, a.result::text
      from answers a
  )
  select 'done', a.result from answers a order by a.n;
end $$;
