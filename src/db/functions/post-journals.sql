-- What a journal says, without ids, times and salts. A memo is compared by its commitment, so that it can be erased.
create or replace function journal_content_hash(p_journal jsonb) returns text language sql stable parallel safe as $$
  select encode(sha256(convert_to(jsonb_build_array(p_journal -> 'ownerId', p_journal -> 'agentId', p_journal -> 'kind',
    p_journal -> 'referenceType', p_journal -> 'referenceId', p_journal -> 'postings')::text, 'UTF8')), 'hex')
$$;

/* Applies the rule "take what is available, the rest is owed; what comes in settles what is owed first" to the lines
   that name a receivable. The lines' other accounts are locked; a receivable is locked here, and only when something
   is or becomes owed. Called by post_journals only, under its settings. */
create or replace function settle_lines(p_lines journal_line[]) returns journal_line[] language plpgsql
as $$
declare
  v_owed text[];
  v_now jsonb;
  v_line journal_line;
  v_part journal_line;
  v_settled journal_line[] := '{}';
  v_rest bigint;
begin
  v_owed := array(
    select distinct l.receivable from unnest(p_lines) l join ledger_accounts a on a.name = l.receivable
    where l.amount_cents > 0 and a.balance_cents > 0);
  if exists (select from unnest(p_lines) l where l.receivable is not null and l.amount_cents < 0) then
    v_owed := array(
      select unnest(v_owed) union
      select max(l.receivable) from unnest(p_lines) l join ledger_accounts a on a.name = l.account
      where l.amount_cents < 0 group by a.name, a.balance_cents having a.balance_cents + sum(l.amount_cents) < 0);
    v_owed := array_remove(v_owed, null);
  end if;
  if cardinality(v_owed) = 0 then return p_lines; end if;
  perform hold_accounts(v_owed, array(select split_part(o, ':', 2) from unnest(v_owed) o), p_lines[1].created_at);
  select coalesce(jsonb_object_agg(a.name, a.balance_cents), '{}') into v_now from ledger_accounts a
    where a.name = any(v_owed)
      or a.name in (select l.account from unnest(p_lines) l where l.receivable is not null);

  for v_line in select l.* from unnest(p_lines) l order by l.ordinal, l.line loop
    v_rest := v_line.amount_cents;
    if v_line.receivable is not null then
      -- A debit takes what is there and leaves the rest to the receivable; a credit settles first.
      if v_rest < 0 then
        v_rest := -least(-v_rest, greatest((v_now ->> v_line.account)::bigint, 0));
      else
        v_rest := v_rest - least(v_rest, coalesce((v_now ->> v_line.receivable)::bigint, 0));
      end if;
      v_part := v_line;
      v_part.account := v_line.receivable;
      v_part.amount_cents := v_line.amount_cents - v_rest;
      v_part.change_cents := -v_part.amount_cents;
      if v_part.amount_cents <> 0 then
        v_settled := v_settled || v_part;
        v_now := jsonb_set(v_now, array[v_part.account],
          to_jsonb((v_now ->> v_part.account)::bigint + v_part.change_cents));
      end if;
      v_line.amount_cents := v_rest;
      v_line.change_cents := v_rest;
    end if;
    continue when v_line.amount_cents = 0 and v_line.receivable is not null;
    v_settled := v_settled || v_line;
    if v_now ? v_line.account then
      v_now := jsonb_set(v_now, array[v_line.account],
        to_jsonb((v_now ->> v_line.account)::bigint + v_line.change_cents));
    end if;
  end loop;
  -- One line may have become two.
  return array(
    select row (l.ordinal, l.journal_id, l.owner_id,
        row_number() over (partition by l.ordinal order by l.nth) - 1,
        l.account, l.amount_cents, l.is_running, l.change_cents, null, l.created_at)::journal_line
    from unnest(v_settled) with ordinality
      l (ordinal, journal_id, owner_id, line, account, amount_cents, is_running, change_cents, receivable, created_at, nth)
    order by l.nth
  );
end $$;

-- Null unless it is a whole number of cents that every language with 64-bit floating point holds exactly.
create or replace function whole_cents(p_amount jsonb) returns bigint language sql immutable parallel safe as $$
  select case when jsonb_typeof(p_amount) = 'number' and p_amount::numeric between -9007199254740991 and 9007199254740991
    and p_amount::numeric = trunc(p_amount::numeric) then p_amount::bigint end
$$;

-- Raises what is wrong with lines of which something is.
create or replace function refuse_lines(p_journals jsonb, p_ordinals bigint[], p_lines journal_line[]) returns void
  language plpgsql as $$
declare
  v_bad record;
begin
  select l.journal_id, l.account into v_bad from unnest(p_lines) l where l.amount_cents is null limit 1;
  if found then
    raise exception 'journal % has a line on % that is not of whole cents up to 2^53 - 1', v_bad.journal_id, v_bad.account
      using errcode = 'BL005';
  end if;
  select p_journals -> (n::int - 1) ->> 'id' as journal_id, sum(l.amount_cents) as off, count(l.line) as lines into v_bad
    from unnest(p_ordinals) n left join unnest(p_lines) l on l.ordinal = n
    group by n having count(l.line) < 2 or sum(l.amount_cents) <> 0 or bool_or(l.amount_cents = 0) limit 1;
  if found then
    raise exception 'journal % has % lines, none of which may be 0, and is off by % cents', v_bad.journal_id,
      v_bad.lines, v_bad.off using errcode = 'BL002';
  end if;
  raise exception 'not all accounts are accounts of the owner: %',
    array(select l.account from unnest(p_lines) l) using errcode = 'BL003';
end $$;

/* When each journal (index: its ordinal) is entered: the latest of the time given, of the last entries of its accounts,
   and of the journals before it in the same call that touch one of them. */
create or replace function entry_times(p_journals jsonb, p_ordinals bigint[], p_lines journal_line[])
  returns timestamptz[] language plpgsql stable
as $$
declare
  v_times timestamptz[];
  v_last jsonb := '{}';
  v_ordinal bigint;
  v_at timestamptz;
begin
  foreach v_ordinal in array p_ordinals loop
    select greatest((p_journals -> (v_ordinal::int - 1) ->> 'createdAt')::timestamptz, max(a.last_entry_at),
        max((v_last ->> a.name)::timestamptz)) into v_at
      from unnest(p_lines) l join ledger_accounts a on a.name = l.account where l.ordinal = v_ordinal;
    v_times[v_ordinal] := v_at;
    continue when cardinality(p_ordinals) = 1;
    v_last := v_last || coalesce((
      select jsonb_object_agg(l.account, v_at) from unnest(p_lines) l where l.ordinal = v_ordinal), '{}');
  end loop;
  return v_times;
end $$;

/* Posts journals: [{id, ownerId, agentId, kind, referenceType, referenceId, cause, memo, salt, memoCommitment,
   requestId, runId, createdAt, postings: [{account, amountCents, receivable?}]}]. Everything or nothing. A cause that
   was posted before is not posted again. A line that names a receivable takes what is available and leaves the rest
   owed, or settles what is owed and leaves the rest available. Accounts are locked first, all in one call
   (hold_accounts), then journals are written. A journal's time is the latest of the time given and of the last entries
   of its accounts, so that on one account time never contradicts order.
   BL001 = an account would fall below zero (detail says which), BL002 = a malformed journal, BL003 = not the owner's,
   BL004 = a second lock call, BL005 = an amount that is not whole cents up to 2^53 - 1 (for sums, the constraint
   ledger_accounts_within_range), BL006 = the cause was posted with other content. */
create or replace function post_journals(p_journals jsonb)
  returns table (ordinal int, journal_id text, posted boolean, balances jsonb, owed_cents bigint) language plpgsql
  security definer set search_path = public, pg_temp
  -- One plan per statement, by index, from the first row to the hundred-millionth: no replanning, no seq scan that
  -- was right while the tables were empty.
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off
as $$
#variable_conflict use_column
declare
  v_fresh bigint[];
  v_count int;
  v_new text[] := '{}';
  v_times timestamptz[];
  v_lines journal_line[];
  v_bad record;
begin
  -- The first journal of each cause that was not posted yet.
  v_fresh := array(
    select min(j.ordinal) from jsonb_array_elements(p_journals) with ordinality j (value, ordinal)
    where not exists (
      select from journals k where k.owner_id = j.value ->> 'ownerId' and k.cause = j.value ->> 'cause')
    group by j.value ->> 'ownerId', j.value ->> 'cause'
  );

  if cardinality(v_fresh) > 0 then
    v_lines := array(
      select row (j.ordinal, j.value ->> 'id', j.value ->> 'ownerId', p.line - 1, p.account, p.amount_cents, p.is_running,
        case when p.account like 'owner:%' then -p.amount_cents else p.amount_cents end, p.receivable,
        (j.value ->> 'createdAt')::timestamptz)::journal_line
      from jsonb_array_elements(p_journals) with ordinality j (value, ordinal)
      cross join lateral (
        select e.line, e.value ->> 'account' as account, whole_cents(e.value -> 'amountCents') as amount_cents,
          has_running_balance(e.value ->> 'account') as is_running, e.value ->> 'receivable' as receivable
        from jsonb_array_elements(j.value -> 'postings') with ordinality e (value, line)
      ) p
      where j.ordinal = any(v_fresh)
    );

    if cardinality(v_fresh) is distinct from (
      select count(*) filter (where j.is_whole) from (
        select count(*) > 1 and sum(l.amount_cents) = 0 and bool_and(l.amount_cents <> 0 and l.is_running is not null
          and (l.is_running or right(l.account, length(l.owner_id) + 1) = ':' || l.owner_id)
          and (l.receivable is null
            or l.receivable = 'owner:' || l.owner_id || ':receivable' and l.account like '%:available')) as is_whole
        from unnest(v_lines) l group by l.ordinal) j
    ) then
      perform refuse_lines(p_journals, v_fresh, v_lines);
    end if;

    perform hold_accounts(array_agg(l.account), array_agg(l.owner_id), min(l.created_at))
      from unnest(v_lines) l where l.is_running;
    -- Who posts the same cause at the same time has locked the same accounts, and is done now.
    v_count := cardinality(v_fresh);
    v_fresh := array(
      select n from unnest(v_fresh) n where not exists (
        select from journals k where k.owner_id = p_journals -> (n::int - 1) ->> 'ownerId'
          and k.cause = p_journals -> (n::int - 1) ->> 'cause')
      order by n
    );
    if cardinality(v_fresh) < v_count then
      v_lines := array(select l from unnest(v_lines) l where l.ordinal = any(v_fresh));
    end if;
  end if;

  if cardinality(v_fresh) > 0 then
    if exists (select from unnest(v_lines) l where l.receivable is not null) then
      v_lines := settle_lines(v_lines);
    end if;
    v_times := entry_times(p_journals, v_fresh, v_lines);

    with added as (
      insert into journals (id, owner_id, agent_id, kind, reference_type, reference_id, cause, memo_commitment,
          request_id, run_id, created_at, content_hash)
        select j.value ->> 'id', j.value ->> 'ownerId', j.value ->> 'agentId', j.value ->> 'kind',
          j.value ->> 'referenceType', j.value ->> 'referenceId', j.value ->> 'cause', j.value ->> 'memoCommitment',
          j.value ->> 'requestId', j.value ->> 'runId', v_times[j.ordinal], journal_content_hash(j.value)
        from jsonb_array_elements(p_journals) with ordinality j (value, ordinal)
        where j.ordinal = any(v_fresh) order by j.value ->> 'ownerId', j.value ->> 'cause'
        on conflict (owner_id, cause) do nothing
        returning id
    )
    select coalesce(array_agg(id), '{}') into v_new from added;
    if cardinality(v_new) < cardinality(v_fresh) then
      raise exception 'a cause of these journals is being posted with other accounts' using errcode = '40001';
    end if;

    -- The owner and the existence of an account are checked here, because any session can change the setting of hold_accounts.
    select s.account, s.before, s.change, s.is_of_other_owner into v_bad from (
      select l.account, l.ordinal, l.line, l.change_cents as change, a.owner_id is distinct from l.owner_id as is_of_other_owner,
        a.balance_cents + sum(l.change_cents) over running - l.change_cents as before
      from unnest(v_lines) l left join ledger_accounts a on a.name = l.account where l.is_running
      window running as (partition by l.account order by l.ordinal, l.line)
    ) s where s.is_of_other_owner or s.before + s.change < 0 order by s.ordinal, s.line limit 1;
    if found and v_bad.is_of_other_owner then
      raise exception 'account % is not there, or is of another owner', v_bad.account using errcode = 'BL003';
    end if;
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
          r.balance_cents + r.through, r.version + r.nth, v_times[r.ordinal]
        from running r
    ), moved as (
      update ledger_accounts a set
          balance_cents = a.balance_cents + s.change,
          debited_cents = a.debited_cents + s.debited,
          credited_cents = a.credited_cents + s.credited,
          version = a.version + s.entries,
          last_entry_at = s.at
        from (
          select l.account, sum(l.change_cents) as change, count(*) as entries, max(v_times[l.ordinal]) as at,
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

  if cardinality(v_new) < jsonb_array_length(p_journals) then
    select a.value ->> 'cause' as cause, j.id into v_bad
      from jsonb_array_elements(p_journals) a (value)
      join journals j on j.owner_id = a.value ->> 'ownerId' and j.cause = a.value ->> 'cause'
      left join journal_texts t on t.journal_id = j.id
      where not (j.id = any(v_new) and j.id = a.value ->> 'id') and j.content_hash is not null and (
        j.content_hash <> journal_content_hash(a.value)
        or (j.memo_commitment is null) <> (a.value ->> 'memo' is null)
        or encode(sha256(convert_to(t.salt || ':' || (a.value ->> 'memo'), 'UTF8')), 'hex') <> j.memo_commitment)
      limit 1;
    if found then
      raise exception 'the cause % was posted with other content, as journal %', v_bad.cause, v_bad.id
        using errcode = 'BL006';
    end if;
  end if;

  return query
    select a.ordinal::int, j.id, j.id = any(v_new) and j.id = a.value ->> 'id', coalesce(b.balances, '{}'),
      coalesce(b.owed, 0)
    from jsonb_array_elements(p_journals) with ordinality a (value, ordinal)
    left join journals j on j.owner_id = a.value ->> 'ownerId' and j.cause = a.value ->> 'cause'
    left join lateral (
      select jsonb_object_agg(e.account, e.balance_after_cents order by e.line) as balances,
        -sum(e.amount_cents) filter (where e.account like 'owner:%')::bigint as owed
      from ledger_entries e where e.journal_id = j.id and e.balance_after_cents is not null
    ) b on true
    order by a.ordinal;
end $$;
