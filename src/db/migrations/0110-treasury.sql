-- Where the money is: wallets, the append-only ledger, its seals and checkpoints, and fundings.

create table wallets (
  id text primary key,
  owner_id text not null,
  name text not null check (length(name) between 1 and 120),
  purpose text check (length(purpose) <= 500),
  iban text unique,
  bic text,
  parent_wallet_id text references wallets (id) check (parent_wallet_id <> id),
  is_default boolean not null default false,
  status text not null default 'active' check (status in ('active', 'frozen', 'closed')),
  metadata jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  closed_at timestamptz,
  check ((status = 'closed') = (closed_at is not null)),
  check (not (is_default and status = 'closed')),
  check ((iban is null) = (bic is null))
);
create unique index wallets_one_default on wallets (owner_id) where is_default;
create index wallets_owner on wallets (owner_id, created_at desc, id desc);
create index wallets_parent on wallets (parent_wallet_id) where parent_wallet_id is not null;

-- The account number inside our IBANs. A sequence, so that two creations never wait for each other; gaps are fine.
create sequence wallet_iban_number maxvalue 9999999999;

-- Accounts of owners: a running balance that is never below zero. Contra accounts have no row here.
create table ledger_accounts (
  name text collate "C" primary key,
  owner_id text not null,
  balance_cents bigint not null default 0 constraint ledger_accounts_never_below_zero check (balance_cents >= 0),
  debited_cents bigint not null default 0,
  credited_cents bigint not null default 0,
  version bigint not null default 0,
  created_at timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
create index ledger_accounts_owner on ledger_accounts (owner_id);

create table journals (
  id text collate "C" primary key,
  owner_id text not null,
  agent_id text,
  kind text not null check (kind ~ '^[a-z_]{1,40}$'),
  reference_type text not null check (reference_type ~ '^[a-z_]{1,40}$'),
  reference_id text not null,
  cause text not null,
  -- Hash of salt and text; the text itself is in journal_texts and can be erased without breaking the chain.
  memo_commitment text,
  request_id text not null,
  run_id text,
  created_at timestamptz not null,
  constraint journals_cause_once unique (owner_id, cause)
);
create index journals_owner on journals (owner_id, created_at desc, id desc);
create index journals_agent on journals (agent_id, created_at desc, id desc) where agent_id is not null;
create index journals_reference on journals (reference_id);
create index journals_reference_type on journals (owner_id, reference_type, created_at desc, id desc);

create table journal_texts (
  journal_id text collate "C" primary key references journals (id),
  memo text not null check (length(memo) <= 500),
  salt text not null
);

create table ledger_entries (
  journal_id text collate "C" not null references journals (id),
  line smallint not null check (line between 0 and 99),
  account text collate "C" not null,
  -- Credit positive, debit negative; a journal sums to zero.
  amount_cents bigint not null check (amount_cents <> 0),
  -- Null on contra accounts.
  balance_before_cents bigint check (balance_before_cents >= 0),
  balance_after_cents bigint check (balance_after_cents >= 0),
  account_version bigint,
  created_at timestamptz not null,
  primary key (journal_id, line)
);
create index ledger_entries_account on ledger_entries (account, created_at desc, journal_id desc, line desc);

-- What the sealer has not reached yet, in an order that never contradicts the accounts' versions.
create table unsealed_journals (
  position bigint generated always as identity primary key,
  journal_id text not null,
  owner_id text not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create table journal_seals (
  owner_id text not null,
  sequence bigint not null check (sequence > 0),
  journal_id text collate "C" not null constraint journal_seals_once unique references journals (id),
  hash text not null check (length(hash) = 64),
  primary key (owner_id, sequence)
);

create table ledger_heads (
  owner_id text primary key,
  sequence bigint not null,
  hash text not null,
  checkpointed_sequence bigint not null default 0
) with (fillfactor = 70);
create index ledger_heads_moved on ledger_heads (owner_id) where sequence > checkpointed_sequence;

-- Sums of contra accounts over sealed journals, kept by the sealer; what is unsealed is added when asked.
create table contra_totals (
  account text collate "C" primary key,
  owner_id text not null,
  debited_cents bigint not null,
  credited_cents bigint not null
) with (fillfactor = 70);
create index contra_totals_owner on contra_totals (owner_id);

create table ledger_checkpoints (
  owner_id text not null,
  sequence bigint not null,
  hash text not null,
  signature text not null,
  root text not null,
  root_signature text not null,
  key_id text not null,
  -- Real time, and the name of the file outside the database.
  created_at timestamptz not null,
  primary key (owner_id, sequence)
);

-- How far each owner's book was checked through HTTP, always up to a checkpoint; a full check ignores it.
create table ledger_verified (
  owner_id text primary key,
  sequence bigint not null
);

create trigger journals_append_only before update or delete on journals for each row execute function refuse_change();
create trigger ledger_entries_append_only before update or delete on ledger_entries
  for each row execute function refuse_change();
create trigger journal_seals_append_only before update or delete on journal_seals
  for each row execute function refuse_change();
create trigger ledger_checkpoints_append_only before update or delete on ledger_checkpoints
  for each row execute function refuse_change();
create trigger journals_not_emptied before truncate on journals execute function refuse_change();
create trigger ledger_entries_not_emptied before truncate on ledger_entries execute function refuse_change();
create trigger journal_seals_not_emptied before truncate on journal_seals execute function refuse_change();
create trigger ledger_checkpoints_not_emptied before truncate on ledger_checkpoints execute function refuse_change();

-- Open holds by account, as whoever places holds knows them. Payments replaces this function.
create function open_holds(p_owner text) returns table (account text, held_cents bigint) language sql stable as $$
  select null::text, null::bigint where false
$$;

-- True for accounts with a running balance; false for contra accounts; null for a name that is neither.
create function has_running_balance(p_account text) returns boolean language sql immutable parallel safe as $$
  select case
    when p_account ~ '^(wallet:wal|agent:ag)_[a-z0-9]{8,64}:(available|held)$' then true
    when p_account ~ '^owner:own_[a-z0-9]{8,64}:receivable$' then true
    when p_account ~ '^(external:(cards|sepa|processor)|suspense|fees|interowner):own_[a-z0-9]{8,64}$' then false
  end
$$;

-- An account belongs to whoever owns the wallet or agent that it is named after.
create function check_account_owner() returns trigger language plpgsql as $$
declare
  v_noun text := split_part(new.name, ':', 1);
  v_id text := split_part(new.name, ':', 2);
  v_owner text;
begin
  if has_running_balance(new.name) is not true then
    raise exception 'no such kind of account: %', new.name using errcode = 'BL003';
  end if;
  if v_noun = 'owner' then
    v_owner := v_id;
  elsif v_noun = 'wallet' then
    select owner_id into v_owner from wallets where id = v_id;
  else
    select owner_id into v_owner from agents where id = v_id;
  end if;
  if v_owner is distinct from new.owner_id then
    raise exception 'account % does not belong to %', new.name, new.owner_id using errcode = 'BL003';
  end if;
  return new;
end $$;
create trigger ledger_accounts_owner before insert on ledger_accounts
  for each row execute function check_account_owner();

-- Makes what is missing and locks all of them in one order: whoever needs balances to decide calls this first.
create function lock_accounts(p_owner text, p_names text[], p_at timestamptz)
  returns table (name text, balance_cents bigint) language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
#variable_conflict use_column
begin
  insert into ledger_accounts as a (name, owner_id, created_at)
    select n, p_owner, p_at from (select distinct unnest(p_names) collate "C" as n) asked
    where not exists (select from ledger_accounts e where e.name = n)
    order by n
    on conflict do nothing;
  if exists (select from ledger_accounts a where a.name = any(p_names) and a.owner_id <> p_owner) then
    raise exception 'not all accounts belong to %: %', p_owner, p_names using errcode = 'BL003';
  end if;
  return query
    select a.name, a.balance_cents from ledger_accounts a where a.name = any(p_names)
    order by a.name for no key update;
end $$;

create type journal_line as (
  ordinal int, journal_id text, owner_id text, line int, account text, amount_cents bigint, is_running boolean,
  change_cents bigint, created_at timestamptz
);

/* Posts journals: [{id, ownerId, agentId, kind, referenceType, referenceId, cause, memo, salt, memoCommitment,
   requestId, runId, createdAt, postings: [{account, amountCents}]}]. Everything or nothing. A cause that was posted
   before is not posted again. Journals first, then accounts in name order: the same order for everybody.
   BL001 = an account would fall below zero (detail says which), BL002 = a malformed journal, BL003 = not the owner's. */
create function post_journals(p_journals jsonb)
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

create table fundings (
  id text primary key,
  owner_id text not null,
  wallet_id text not null references wallets (id),
  from_wallet_id text references wallets (id),
  amount_cents bigint not null check (amount_cents > 0),
  -- The wallet's available money right after.
  balance_cents bigint not null check (balance_cents >= 0),
  status text not null check (status in ('pending', 'completed')),
  is_simulated boolean not null,
  journal_id text,
  created_at timestamptz not null,
  check ((status = 'completed') = (journal_id is not null))
);
create index fundings_owner on fundings (owner_id, created_at desc, id desc);
