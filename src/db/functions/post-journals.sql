/* Posts journals: [{id, ownerId, agentId, kind, referenceType, referenceId, cause, memo, salt, memoCommitment,
   requestId, runId, createdAt, postings: [{account, amountCents}]}]. Everything or nothing. A cause that was posted
   before is not posted again. Journals first, then accounts in name order: the same order for everybody.
   BL001 = an account would fall below zero (detail says which), BL002 = a malformed journal, BL003 = not the owner's. */
create or replace function post_journals(p_journals jsonb)
  returns table (ordinal int, journal_id text, posted boolean, balances jsonb) language plpgsql
  -- One plan per statement, by index, from the first row to the hundred-millionth: no replanning, no seq scan that
  -- was right while the tables were empty.
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off
as $$
#variable_conflict use_column
declare
  v_new text[];
  v_lines journal_line[];
  v_names text[];
  v_bad record;
begin
  with asked as (
    select j.* from jsonb_to_recordset(p_journals) as j ("id" text, "ownerId" text, "agentId" text, "kind" text,
      "referenceType" text, "referenceId" text, "cause" text, "memoCommitment" text, "requestId" text, "runId" text,
      "createdAt" timestamptz)
  ), added as (
    insert into journals (id, owner_id, agent_id, kind, reference_type, reference_id, cause, memo_commitment,
        request_id, run_id, created_at)
      select "id", "ownerId", "agentId", "kind", "referenceType", "referenceId", "cause", "memoCommitment",
        "requestId", "runId", "createdAt"
      from asked order by "ownerId", "cause"
      on conflict do nothing
      returning id
  )
  select coalesce(array_agg(id), '{}') into v_new from added;

  if cardinality(v_new) > 0 then
    v_lines := array(
      select row (j.ordinal, j.value ->> 'id', j.value ->> 'ownerId', p.line - 1, p.account, p.amount_cents, p.is_running,
        case when p.account like 'owner:%' then -p.amount_cents else p.amount_cents end,
        (j.value ->> 'createdAt')::timestamptz)::journal_line
      from jsonb_array_elements(p_journals) with ordinality j (value, ordinal)
      cross join lateral (
        select e.line, e.value ->> 'account' as account, (e.value ->> 'amountCents')::bigint as amount_cents,
          has_running_balance(e.value ->> 'account') as is_running
        from jsonb_array_elements(j.value -> 'postings') with ordinality e (value, line)
      ) p
      where j.value ->> 'id' = any(v_new)
    );

    select l.journal_id, sum(l.amount_cents) as off, count(*) as lines into v_bad
      from unnest(v_new) n left join unnest(v_lines) l on l.journal_id = n
      group by n, l.journal_id having count(l.line) < 2 or sum(l.amount_cents) <> 0 limit 1;
    if found then
      raise exception 'journal % has % lines and is off by % cents', v_bad.journal_id, v_bad.lines, v_bad.off
        using errcode = 'BL002';
    end if;
    select l.account, l.owner_id into v_bad from unnest(v_lines) l
      where l.is_running is null or (not l.is_running and right(l.account, length(l.owner_id) + 1) <> ':' || l.owner_id)
      limit 1;
    if found then
      raise exception 'account % is not an account of %', v_bad.account, v_bad.owner_id using errcode = 'BL003';
    end if;

    insert into ledger_accounts (name, owner_id, created_at)
      select l.account collate "C", min(l.owner_id), min(l.created_at) from unnest(v_lines) l
      where l.is_running and not exists (select from ledger_accounts a where a.name = l.account)
      group by 1 order by 1
      on conflict do nothing;
    v_names := array(select distinct l.account from unnest(v_lines) l where l.is_running);
    perform 1 from ledger_accounts a where a.name = any(v_names) order by a.name for no key update;

    select l.account, l.owner_id into v_bad
      from unnest(v_lines) l join ledger_accounts a on a.name = l.account where a.owner_id <> l.owner_id limit 1;
    if found then
      raise exception 'account % is not an account of %', v_bad.account, v_bad.owner_id using errcode = 'BL003';
    end if;

    select s.account, s.before, s.change into v_bad from (
      select l.account, l.ordinal, l.line, l.change_cents as change,
        a.balance_cents + sum(l.change_cents) over running - l.change_cents as before
      from unnest(v_lines) l join ledger_accounts a on a.name = l.account
      window running as (partition by l.account order by l.ordinal, l.line)
    ) s where s.before + s.change < 0 order by s.ordinal, s.line limit 1;
    if found then
      raise exception 'account % would fall below zero', v_bad.account using errcode = 'BL001',
        detail = jsonb_build_object('account', v_bad.account, 'balanceCents', v_bad.before, 'askedCents', -v_bad.change)::text;
    end if;

    with running as (
      select l.*, a.balance_cents, a.version,
        sum(l.change_cents) over w as through, row_number() over w as nth
      from unnest(v_lines) l left join ledger_accounts a on a.name = l.account and l.is_running
      window w as (partition by l.account order by l.ordinal, l.line)
    ), added as (
      insert into ledger_entries (journal_id, line, account, amount_cents, balance_before_cents, balance_after_cents,
          account_version, created_at)
        select r.journal_id, r.line, r.account, r.amount_cents, r.balance_cents + r.through - r.change_cents,
          r.balance_cents + r.through, r.version + r.nth, r.created_at
        from running r
    ), moved as (
      update ledger_accounts a set
          balance_cents = a.balance_cents + s.change,
          debited_cents = a.debited_cents + s.debited,
          credited_cents = a.credited_cents + s.credited,
          version = a.version + s.entries
        from (
          select l.account, sum(l.change_cents) as change, count(*) as entries,
            -sum(least(l.amount_cents, 0)) as debited, sum(greatest(l.amount_cents, 0)) as credited
          from unnest(v_lines) l where l.is_running group by l.account
        ) s
        where a.name = s.account
    ), texts as (
      insert into journal_texts (journal_id, memo, salt)
        select j."id", j."memo", j."salt"
        from jsonb_to_recordset(p_journals) as j ("id" text, "memo" text, "salt" text)
        where j."memo" is not null and j."id" = any(v_new)
    )
    insert into unsealed_journals (journal_id, owner_id)
      select l.journal_id, min(l.owner_id) from unnest(v_lines) l group by l.journal_id, l.ordinal order by l.ordinal;
  end if;

  return query
    select a.ordinal::int, j.id, j.id = any(v_new) and j.id = a.value ->> 'id', coalesce(b.balances, '{}')
    from jsonb_array_elements(p_journals) with ordinality a (value, ordinal)
    left join journals j on j.owner_id = a.value ->> 'ownerId' and j.cause = a.value ->> 'cause'
    left join lateral (
      select jsonb_object_agg(e.account, e.balance_after_cents order by e.line) as balances
      from ledger_entries e where e.journal_id = j.id and e.balance_after_cents is not null
    ) b on true
    order by a.ordinal;
end $$;
