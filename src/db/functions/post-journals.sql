-- What a journal says, without ids, times and salts. A memo is compared by its commitment, so that it can be erased.
create or replace function journal_content_hash(p_journal jsonb) returns text language sql stable parallel safe as $$
  select encode(sha256(convert_to(jsonb_build_array(p_journal -> 'ownerId', p_journal -> 'agentId', p_journal -> 'kind',
    p_journal -> 'referenceType', p_journal -> 'referenceId', p_journal -> 'postings')::text, 'UTF8')), 'hex')
$$;

-- Null unless it is a whole number of cents that every language with 64-bit floating point holds exactly.
create or replace function whole_cents(p_amount jsonb) returns bigint language sql immutable parallel safe as $$
  select case when jsonb_typeof(p_amount) = 'number' and p_amount::numeric between -9007199254740991 and 9007199254740991
    and p_amount::numeric = trunc(p_amount::numeric) then p_amount::bigint end
$$;

/* Which of these journals have a cause that was posted before, and whether with the same content. A memo is compared
   by its commitment, so that it can be erased. */
create or replace function posted_before(p_journals jsonb, p_ordinals int[])
  returns table (ordinal int, journal_id text, is_same boolean) language sql stable
as $$
  select n, j.id, j.content_hash is null or (
      j.content_hash = journal_content_hash(d.value)
      and (j.memo_commitment is null) = (d.value ->> 'memo' is null)
      and (t.salt is null or encode(sha256(convert_to(t.salt || ':' || (d.value ->> 'memo'), 'UTF8')), 'hex') = j.memo_commitment))
  from unnest(p_ordinals) n
  cross join lateral (select p_journals -> (n - 1) as value) d
  join journals j on j.owner_id = d.value ->> 'ownerId' and j.cause = d.value ->> 'cause'
  left join journal_texts t on t.journal_id = j.id and d.value ->> 'memo' is not null
$$;

/* Posts each journal of a list that can be posted, as if one came after the other in calls of their own, and says of
   each what became of it. Journals are those of post_journals. Outcomes:
     posted
     already           the cause was posted before, with the same content; `journal_id` is that journal
     other_content     the cause was posted before with other content, as `journal_id`
     not_enough        an account would fall below zero; `detail` has account, balanceCents and askedCents
     out_of_range      an amount that is not whole cents up to 2^53 - 1, or a sum of an account beyond it
     unbalanced        fewer than two lines, a line of 0, or lines that do not sum to zero
     foreign_account   an account that does not exist, or is not the owner's
   A journal that cannot be posted changes nothing, and the others stand. Accounts are locked once, in name order, and
   receivables after all others. A line that names a receivable takes what is available and leaves the rest owed, or
   settles what is owed and leaves the rest available. A journal's time is the latest of the time given and of the last
   entries of its accounts, so that on one account time never contradicts order. For functions that run as the owner of
   the tables, under the settings of post_journals.
   `p_is_new`: the caller knows that no cause of them was posted, and does not read balances. What is answered names none,
   and a cause that was posted nevertheless ends the transaction (40001). */
create or replace function post_each(p_journals jsonb, p_is_new boolean default false)
  returns table (ordinal int, journal_id text, outcome text, balances jsonb, owed_cents bigint, detail jsonb)
  language plpgsql as $$
#variable_conflict use_column
declare
  c_most constant bigint := 9007199254740991;
  -- By ordinal: the journals.
  j_id text[];
  j_cause text[];
  j_at timestamptz[];
  j_outcome text[];
  j_detail jsonb[];
  j_balances jsonb[];
  j_owed bigint[];
  v_fresh int[];
  v_has_twins boolean;
  v_has_memos boolean;
  -- The lines of the journals that are fresh, in order.
  l_ordinal int[];
  l_account text[];
  l_amount bigint[];
  l_is_running boolean[];
  l_receivable text[];
  l_line int[];
  v_may_owe boolean := false;
  -- The journals can be posted one like the other: each succeeds, and no line becomes two.
  v_is_plain boolean := false;
  v_is_late boolean;
  -- The locked accounts, by name, and the state that the lines bring them into.
  v_index jsonb;
  a_name text[];
  a_balance bigint[];
  a_debited bigint[];
  a_credited bigint[];
  a_version bigint[];
  a_was bigint[];
  a_last timestamptz[];
  -- The entries; `e_index` is the entry's account, null for a contra account.
  e_ordinal int[] := '{}';
  e_line int[] := '{}';
  e_account text[] := '{}';
  e_amount bigint[] := '{}';
  e_before bigint[] := '{}';
  e_index int[] := '{}';
  e_version bigint[] := '{}';
  v_entries int := 0;
  v_first int;
  v_i int := 1;
  v_lines int;
  v_n int;
  v_k int;
  v_rest bigint;
  v_piece bigint;
  v_change bigint;
  v_account text;
  v_at timestamptz;
  v_why text;
  v_detail jsonb;
  v_twins jsonb := '{}';
  v_known record;
  v_was_posted boolean := false;
  v_is_refused boolean := false;
  v_held constant text[] := coalesce(string_to_array(nullif(current_setting('bursar.locked_accounts', true), ''), ','), '{}');
  v_is_held boolean := true;
  v_is_entered boolean;
  v_is_locked boolean;
begin
  select array_agg(d.value ->> 'id' order by d.n), array_agg((d.value ->> 'ownerId') || ' ' || (d.value ->> 'cause') order by d.n),
      array_agg((d.value ->> 'createdAt')::timestamptz order by d.n), array_agg(null::text), array_agg(null::jsonb),
      array_agg(d.n::int order by d.n), count(distinct (d.value ->> 'ownerId', d.value ->> 'cause')) < count(*),
      bool_or(d.value ->> 'memo' is not null)
    into j_id, j_cause, j_at, j_outcome, j_detail, v_fresh, v_has_twins, v_has_memos
    from jsonb_array_elements(p_journals) with ordinality d (value, n);
  if v_fresh is null then return; end if;
  j_balances := array_fill(null::jsonb, array[cardinality(v_fresh)]);
  j_owed := array_fill(null::bigint, array[cardinality(v_fresh)]);

  -- What was posted before locks nothing.
  if not p_is_new then
    for v_known in select * from posted_before(p_journals, v_fresh) loop
      j_id[v_known.ordinal] := v_known.journal_id;
      j_outcome[v_known.ordinal] := case when v_known.is_same then 'already' else 'other_content' end;
      v_is_refused := true;
    end loop;
    if v_is_refused then v_fresh := array(select n from unnest(v_fresh) n where j_outcome[n] is null order by n); end if;
  end if;

  if cardinality(v_fresh) > 0 then
    for v_known in
      with lines as materialized (
        select d.n::int as ordinal, e.line, d.value ->> 'ownerId' as owner_id, e.value ->> 'account' as account,
          whole_cents(e.value -> 'amountCents') as amount_cents, a.owner_id as known_owner,
          case when a.name is not null then true else has_running_balance(e.value ->> 'account') end as is_running,
          e.value ->> 'receivable' as receivable
        from jsonb_array_elements(p_journals) with ordinality d (value, n)
        left join lateral jsonb_array_elements(d.value -> 'postings') with ordinality e (value, line) on true
        -- The owner of an account was compared when the account was created.
        left join ledger_accounts a on a.name = e.value ->> 'account'
        where d.n = any(v_fresh)
      )
      select l.ordinal, max(l.owner_id) as owner_id, sum(l.amount_cents) as off, count(l.line) as lines,
        array_agg(l.account order by l.line) as accounts, array_agg(l.amount_cents order by l.line) as amounts,
        array_agg(l.line::int - 1 order by l.line) as numbers, array_agg(l.is_running order by l.line) as running, array_agg(l.receivable order by l.line) as receivables,
        array_agg(l.account) filter (where l.is_running) as running_accounts,
        bool_and(l.amount_cents is not null) as is_whole,
        min(l.account) filter (where l.amount_cents is null) as not_whole,
        bool_and(l.amount_cents <> 0) as moves, bool_or(l.receivable is not null) as may_owe,
        bool_and(coalesce(l.is_running is not null
          and case when l.known_owner is not null then l.known_owner = l.owner_id
                   when l.is_running then account_owner(l.account) = l.owner_id
                   else right(l.account, length(l.owner_id) + 1) = ':' || l.owner_id end
          and (l.receivable is null
            or l.receivable = 'owner:' || l.owner_id || ':receivable' and l.account like '%:available'), false)) as is_own
      from lines l group by l.ordinal order by l.ordinal
    loop
      if v_known.lines > 0 and not v_known.is_whole then
        j_outcome[v_known.ordinal] := 'out_of_range';
        j_detail[v_known.ordinal] := jsonb_build_object('message', format(
          'journal %s has a line on %s that is not of whole cents up to 2^53 - 1', j_id[v_known.ordinal], v_known.not_whole));
      elsif v_known.lines < 2 or v_known.off <> 0 or not v_known.moves then
        j_outcome[v_known.ordinal] := 'unbalanced';
        j_detail[v_known.ordinal] := jsonb_build_object('message', format(
          'journal %s has %s lines, none of which may be 0, and is off by %s cents', j_id[v_known.ordinal], v_known.lines,
          v_known.off));
      elsif not v_known.is_own then
        j_outcome[v_known.ordinal] := 'foreign_account';
        j_detail[v_known.ordinal] := jsonb_build_object('message', format(
          'not all accounts of journal %s are accounts of the owner: %s', j_id[v_known.ordinal],
          array_to_string(v_known.accounts, ', ')));
      else
        l_ordinal := l_ordinal || array_fill(v_known.ordinal, array[v_known.lines::int]);
        l_account := l_account || v_known.accounts;
        l_amount := l_amount || v_known.amounts;
        l_line := l_line || v_known.numbers;
        l_is_running := l_is_running || v_known.running;
        l_receivable := l_receivable || v_known.receivables;
        v_may_owe := v_may_owe or v_known.may_owe;
        v_is_held := v_is_held and coalesce(v_known.running_accounts <@ v_held, true);
        continue;
      end if;
      v_is_refused := true;
    end loop;
    if v_is_refused then v_fresh := array(select n from unnest(v_fresh) n where j_outcome[n] is null order by n); end if;
  end if;

  if cardinality(v_fresh) > 0 then
    -- Who posts the same cause at the same time has locked the same accounts, and is done now; or was done before the causes
    -- were looked up, where this transaction held all accounts already.
    if not v_is_held then
      perform hold_accounts(array_agg(l.account), array_agg(p_journals -> (l.n - 1) ->> 'ownerId'), min(j_at[l.n]))
        from unnest(l_ordinal, l_account, l_is_running) l (n, account, is_running) where l.is_running;
    end if;
    if not (v_is_held or p_is_new) then
      for v_known in select * from posted_before(p_journals, v_fresh) loop
        j_id[v_known.ordinal] := v_known.journal_id;
        j_outcome[v_known.ordinal] := case when v_known.is_same then 'already' else 'other_content' end;
        v_was_posted := true;
      end loop;
    end if;

    -- A receivable is locked where something is owed, or where what is available might not be enough.
    if v_may_owe then
      perform hold_accounts(array_agg(r.name), array_agg(split_part(r.name, ':', 2)), j_at[v_fresh[1]])
        from (
          select l.receivable as name
            from unnest(l_account, l_amount, l_receivable) l (account, amount, receivable)
            left join ledger_accounts a on a.name = l.account
            left join ledger_accounts o on o.name = l.receivable
            where l.receivable is not null
            group by l.receivable
            having bool_or(o.balance_cents > 0 and l.amount > 0)
              or bool_or(l.amount < 0 and a.balance_cents < (
                select -sum(m.amount) from unnest(l_account, l_amount) m (account, amount)
                  where m.account = l.account and m.amount < 0))
        ) r having count(*) > 0;
    end if;

    -- Most lists are posted by one pass over all lines. It is undone where an account would end below zero on the way, or
    -- out of range, and the journals are then posted one after the other.
    if not (v_has_twins or v_was_posted or current_setting('bursar.locked_accounts', true) like '%owner:%') then
      select array_agg(l.ordinal order by l.nth), array_agg(l.line order by l.nth), array_agg(l.account order by l.nth),
          array_agg(l.amount order by l.nth), array_agg(l.after - l.amount order by l.nth),
          array_agg(l.version order by l.nth),
          array_agg(l.name order by l.nth) filter (where l.is_last),
          array_agg(l.after order by l.nth) filter (where l.is_last),
          array_agg(l.debited order by l.nth) filter (where l.is_last),
          array_agg(l.credited order by l.nth) filter (where l.is_last),
          array_agg(l.version order by l.nth) filter (where l.is_last),
          array_agg(l.was order by l.nth) filter (where l.is_last),
          array_agg(l.at order by l.nth) filter (where l.is_last),
          count(*), coalesce(bool_or(l.at < l.latest), false),
          coalesce(min(l.after) >= 0 and max(greatest(l.debited, l.credited)) <= c_most, true)
            and not bool_or(l.is_running and l.name is null)
        into e_ordinal, e_line, e_account, e_amount, e_before, e_version,
          a_name, a_balance, a_debited, a_credited, a_version, a_was, a_last, v_entries, v_is_late, v_is_plain
        from (
          select l.nth, l.ordinal, l.line, l.account, l.amount, l.is_running, a.name, a.version as was, j_at[l.ordinal] as at,
            a.balance_cents + (sum(l.amount) over w)::bigint as after,
            a.debited_cents - (sum(least(l.amount, 0)) over w)::bigint as debited,
            a.credited_cents + (sum(greatest(l.amount, 0)) over w)::bigint as credited,
            a.version + row_number() over w as version, a.name is not null and lead(l.nth) over w is null as is_last,
            greatest(a.last_entry_at, max(j_at[l.ordinal]) over w) as latest
          from unnest(l_ordinal, l_line, l_account, l_amount, l_is_running)
            with ordinality l (ordinal, line, account, amount, is_running, nth)
          left join ledger_accounts a on a.name = l.account
          window w as (partition by l.account order by l.nth)
        ) l;
    end if;

    if v_is_plain then
      foreach v_n in array v_fresh loop
        j_outcome[v_n] := 'posted';
      end loop;
      if v_is_late then
        select jsonb_object_agg(name, n) into v_index from unnest(a_name) with ordinality a (name, n);
        select array_agg(a.last_entry_at order by s.n) into a_last
          from unnest(a_name) with ordinality s (name, n) join ledger_accounts a on a.name = s.name;
        v_i := 1;
        while v_i <= v_entries loop
          v_n := e_ordinal[v_i];
          v_at := j_at[v_n];
          v_first := v_i;
          while v_i <= v_entries and e_ordinal[v_i] = v_n loop
            v_at := greatest(v_at, a_last[(v_index ->> e_account[v_i])::int]);
            v_i := v_i + 1;
          end loop;
          j_at[v_n] := v_at;
          for v_e in v_first..v_i - 1 loop
            v_k := (v_index ->> e_account[v_e])::int;
            if v_k is not null then a_last[v_k] := v_at; end if;
          end loop;
        end loop;
      end if;
    else
      e_ordinal := '{}';
      e_line := '{}';
      e_account := '{}';
      e_amount := '{}';
      e_before := '{}';
      e_version := '{}';
      v_entries := 0;
      select array_agg(a.name), array_agg(a.balance_cents), array_agg(a.debited_cents), array_agg(a.credited_cents),
          array_agg(a.version), array_agg(a.last_entry_at), jsonb_object_agg(a.name, a.n)
        into a_name, a_balance, a_debited, a_credited, a_version, a_last, v_index
        from (
          select a.*, row_number() over (order by a.name) as n from ledger_accounts a
          where a.name = any(string_to_array(current_setting('bursar.locked_accounts', true), ',')) order by a.name
        ) a;
      a_was := a_version;

      v_lines := cardinality(l_ordinal);
      foreach v_n in array v_fresh loop
        continue when j_outcome[v_n] is not null;
        while l_ordinal[v_i] < v_n loop v_i := v_i + 1; end loop;
        if v_has_twins then
          if v_twins ? j_cause[v_n] then
            v_k := (v_twins ->> j_cause[v_n])::int;
            j_id[v_n] := j_id[v_k];
            j_outcome[v_n] := case
              when journal_content_hash(p_journals -> (v_n - 1)) = journal_content_hash(p_journals -> (v_k - 1))
                and (p_journals -> (v_n - 1) ->> 'memo') is not distinct from (p_journals -> (v_k - 1) ->> 'memo')
              then 'already' else 'other_content' end;
            continue;
          end if;
        end if;
        v_first := v_entries;
        v_why := null;
        v_at := j_at[v_n];
        while v_why is null and v_i <= v_lines and l_ordinal[v_i] = v_n loop
          v_rest := l_amount[v_i];
          -- A debit takes what is there and leaves the rest to the receivable; a credit settles first.
          if l_receivable[v_i] is not null then
            if v_rest < 0 then
              v_rest := -least(-v_rest, greatest(a_balance[(v_index ->> l_account[v_i])::int], 0));
            else
              v_rest := v_rest - least(v_rest, coalesce(a_balance[(v_index ->> l_receivable[v_i])::int], 0));
            end if;
          end if;
          -- One line may become two.
          for v_piece_nth in 1..2 loop
            if v_piece_nth = 1 then
              v_piece := l_amount[v_i] - v_rest;
              v_account := l_receivable[v_i];
            else
              v_piece := v_rest;
              v_account := l_account[v_i];
            end if;
            continue when v_piece = 0;
            v_entries := v_entries + 1;
            e_ordinal[v_entries] := v_n;
            e_line[v_entries] := v_entries - v_first - 1;
            e_account[v_entries] := v_account;
            e_amount[v_entries] := v_piece;
            if v_piece_nth = 2 and not l_is_running[v_i] then
              e_index[v_entries] := null;
              e_before[v_entries] := null;
              e_version[v_entries] := null;
              continue;
            end if;
            v_k := (v_index ->> v_account)::int;
            if v_k is null then
              raise exception 'account % is not there, or is not locked', v_account using errcode = 'BL003';
            end if;
            v_change := case when v_account like 'owner:%' then -v_piece else v_piece end;
            e_index[v_entries] := v_k;
            e_before[v_entries] := a_balance[v_k];
            a_version[v_k] := a_version[v_k] + 1;
            e_version[v_entries] := a_version[v_k];
            a_balance[v_k] := a_balance[v_k] + v_change;
            if v_piece < 0 then a_debited[v_k] := a_debited[v_k] - v_piece;
            else a_credited[v_k] := a_credited[v_k] + v_piece; end if;
            v_at := greatest(v_at, a_last[v_k]);
            if a_balance[v_k] < 0 then
              v_why := 'not_enough';
              v_detail := jsonb_build_object('message', format('account %s would fall below zero', v_account), 'account', v_account,
                'balanceCents', a_balance[v_k] - v_change, 'askedCents', -v_change);
              exit;
            elsif greatest(a_debited[v_k], a_credited[v_k]) > c_most then
              v_why := 'out_of_range';
              v_detail := jsonb_build_object('message', format('account %s cannot hold that much', v_account), 'account', v_account);
              exit;
            end if;
          end loop;
          v_i := v_i + 1;
        end loop;

        if v_why is null then
          j_outcome[v_n] := 'posted';
          j_at[v_n] := v_at;
          for v_e in v_first + 1..v_entries loop
            if e_index[v_e] is not null then a_last[e_index[v_e]] := v_at; end if;
          end loop;
          if v_has_twins then v_twins := v_twins || jsonb_build_object(j_cause[v_n], v_n); end if;
        else
          -- As if it had not been asked.
          j_outcome[v_n] := v_why;
          j_detail[v_n] := v_detail;
          for v_e in reverse v_entries..v_first + 1 loop
            v_k := e_index[v_e];
            continue when v_k is null;
            a_balance[v_k] := e_before[v_e];
            a_version[v_k] := a_version[v_k] - 1;
            if e_amount[v_e] < 0 then a_debited[v_k] := a_debited[v_k] + e_amount[v_e];
            else a_credited[v_k] := a_credited[v_k] - e_amount[v_e]; end if;
          end loop;
          v_entries := v_first;
        end if;
      end loop;

      -- What follows a journal of the same cause is compared with it before anything else.
      if v_has_twins then
        for v_n in 1..cardinality(j_outcome) loop
          v_k := (v_twins ->> j_cause[v_n])::int;
          continue when v_k is null or v_k >= v_n or j_outcome[v_n] not in ('unbalanced', 'foreign_account', 'out_of_range');
          j_id[v_n] := j_id[v_k];
          j_outcome[v_n] := 'other_content';
          j_detail[v_n] := null;
        end loop;
      end if;
    end if;
    if not v_is_plain then v_fresh := array(select n from unnest(v_fresh) n where j_outcome[n] = 'posted' order by n); end if;
  end if;

  if cardinality(v_fresh) > 0 then
    -- One statement, which enters a journal with its lines. The version says that the account is as it was read: any
    -- session can change the setting of hold_accounts.
    with entered as (
      insert into journals (id, owner_id, agent_id, kind, reference_type, reference_id, cause, memo_commitment,
          request_id, run_id, created_at, content_hash)
        select d.value ->> 'id', d.value ->> 'ownerId', d.value ->> 'agentId', d.value ->> 'kind',
          d.value ->> 'referenceType', d.value ->> 'referenceId', d.value ->> 'cause', d.value ->> 'memoCommitment',
          d.value ->> 'requestId', d.value ->> 'runId', j_at[d.n], journal_content_hash(d.value)
        from jsonb_array_elements(p_journals) with ordinality d (value, n)
        where d.n = any(v_fresh) order by d.value ->> 'ownerId', d.value ->> 'cause'
        on conflict (owner_id, cause) do nothing
        returning 1
    ), all_entered as (
      select from entered having count(*) = cardinality(v_fresh)
    ), lines as (
      insert into ledger_entries (journal_id, line, account, amount_cents, balance_before_cents, balance_after_cents,
          account_version, created_at)
        select j_id[e.ordinal], e.line, e.account, e.amount, e.before,
          e.before + case when e.account like 'owner:%' then -e.amount else e.amount end, e.version, j_at[e.ordinal]
        from unnest(e_ordinal, e_line, e_account, e_amount, e_before, e_version)
          with ordinality e (ordinal, line, account, amount, before, version, nth)
        where e.nth <= v_entries and exists (select from all_entered) order by e.nth
    ), to_seal as (
      insert into unsealed_journals (journal_id, owner_id)
        select j_id[n], split_part(j_cause[n], ' ', 1) from unnest(v_fresh) n order by n
    ), moved as (
      update ledger_accounts a set balance_cents = s.balance, debited_cents = s.debited, credited_cents = s.credited,
          version = s.version, last_entry_at = s.last
        from unnest(a_name, a_balance, a_debited, a_credited, a_version, a_last, a_was)
          s (name, balance, debited, credited, version, last, was)
        where a.name = s.name and a.version = s.was and s.version > s.was
        returning 1
    )
    select exists (select from all_entered), (select count(*) from moved)
        = (select count(*) from unnest(a_version, a_was) s (version, was) where s.version > s.was)
      into v_is_entered, v_is_locked;
    if not v_is_entered then
      raise exception 'a cause of these journals is being posted with other accounts' using errcode = '40001';
    end if;
    if not v_is_locked then
      raise exception 'an account of these journals is not locked' using errcode = '40001';
    end if;
    if v_has_memos then
      insert into journal_texts (journal_id, memo, salt)
        select d.value ->> 'id', d.value ->> 'memo', d.value ->> 'salt'
        from jsonb_array_elements(p_journals) with ordinality d (value, n)
        where d.value ->> 'memo' is not null and d.n = any(v_fresh);
    end if;
    if not p_is_new then
      for v_known in
        select e.ordinal, jsonb_object_agg(e.account, e.before + case when e.account like 'owner:%' then -e.amount else e.amount end
            order by e.line) filter (where e.before is not null) as balances,
          -sum(e.amount) filter (where e.account like 'owner:%')::bigint as owed
        from unnest(e_ordinal, e_line, e_account, e_amount, e_before)
          with ordinality e (ordinal, line, account, amount, before, nth)
        where e.nth <= v_entries group by e.ordinal
      loop
        j_balances[v_known.ordinal] := v_known.balances;
        j_owed[v_known.ordinal] := v_known.owed;
      end loop;
    end if;
  end if;

  if 'already' = any(j_outcome) then
    for v_known in
      select d.n, b.* from unnest(j_outcome) with ordinality d (outcome, n)
      cross join lateral (
        select jsonb_object_agg(e.account, e.balance_after_cents order by e.line) as balances,
          -sum(e.amount_cents) filter (where e.account like 'owner:%')::bigint as owed
        from ledger_entries e where e.journal_id = j_id[d.n] and e.balance_after_cents is not null
      ) b where d.outcome = 'already'
    loop
      j_balances[v_known.n] := v_known.balances;
      j_owed[v_known.n] := v_known.owed;
    end loop;
  end if;
  return query
    select d.n::int, d.id, d.outcome, coalesce(d.balances, '{}'), coalesce(d.owed, 0), d.detail
    from unnest(j_id, j_outcome, j_balances, j_owed, j_detail)
      with ordinality d (id, outcome, balances, owed, detail, n)
    where d.outcome is not null order by d.n;
end $$;

/* Posts journals: [{id, ownerId, agentId, kind, referenceType, referenceId, cause, memo, salt, memoCommitment,
   requestId, runId, createdAt, postings: [{account, amountCents, receivable?}]}]. Everything or nothing; post_each says
   how. A cause that was posted before is not posted again.
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
  v_one record;
begin
  for v_one in select * from post_each(p_journals) loop
    if v_one.outcome not in ('posted', 'already') then
      perform refuse_journal(v_one.outcome, v_one.detail, p_journals -> (v_one.ordinal - 1) ->> 'cause', v_one.journal_id);
    end if;
    ordinal := v_one.ordinal;
    journal_id := v_one.journal_id;
    posted := v_one.outcome = 'posted';
    balances := v_one.balances;
    owed_cents := v_one.owed_cents;
    return next;
  end loop;
end $$;

-- The error of post_journals for a journal that cannot be posted.
create or replace function refuse_journal(p_outcome text, p_detail jsonb, p_cause text, p_journal text) returns void
  language plpgsql as $$
begin
  case p_outcome
    when 'not_enough' then
      raise exception '%', p_detail ->> 'message' using errcode = 'BL001', detail = (p_detail - 'message')::text;
    when 'unbalanced' then raise exception '%', p_detail ->> 'message' using errcode = 'BL002';
    when 'foreign_account' then raise exception '%', p_detail ->> 'message' using errcode = 'BL003';
    when 'other_content' then
      raise exception 'the cause % was posted with other content, as journal %', p_cause, p_journal using errcode = 'BL006';
    when 'out_of_range' then
      if p_detail ? 'account' then
        raise exception '%', p_detail ->> 'message'
          using errcode = 'check_violation', constraint = 'ledger_accounts_within_range', table = 'ledger_accounts';
      end if;
      raise exception '%', p_detail ->> 'message' using errcode = 'BL005';
  end case;
end $$;
