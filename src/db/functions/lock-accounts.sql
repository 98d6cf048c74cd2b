/* The lock call of a transaction: creates the accounts that are missing and locks all of them in one order, by name,
   and `owner:…:receivable` after all others, because only the locked balances show whether it is needed. A second call
   may lock what is held already, and the receivables if none is held yet, because they come last; anything else could
   be a second order and raises BL004. BL003 = an account of another owner; `p_owners` says whose each account is. */
create or replace function hold_accounts(p_names text[], p_owners text[], p_at timestamptz) returns void
  language plpgsql
as $$
declare
  v_held text[] := string_to_array(nullif(current_setting('bursar.locked_accounts', true), ''), ',');
  v_new text[];
  v_bad text;
  v_is_missing boolean;
  v_is_owing boolean;
  v_is_receivable boolean;
begin
  if v_held is not null and p_names <@ v_held then return; end if;
  -- The owner of an account never changes, so it is compared before the lock.
  select array_agg(n.name), bool_or(a.name is null), bool_or(n.name like 'owner:%'),
      min(n.name) filter (where n.least <> n.greatest or a.owner_id <> n.least)
    into v_new, v_is_missing, v_is_owing, v_bad
    from (
      select name, min(owner_id) as least, max(owner_id) as greatest from unnest(p_names, p_owners) n (name, owner_id)
      where v_held is null or name <> all(v_held) group by name
    ) n left join ledger_accounts a on a.name = n.name;
  if v_new is null then return; end if;
  if v_bad is not null then
    raise exception 'account % is of another owner', v_bad using errcode = 'BL003';
  end if;
  if v_held is not null then
    if exists (select from unnest(v_new) n where n not like 'owner:%' or array_to_string(v_held, ',') like '%owner:%') then
      raise exception 'the transaction holds % and may not lock % as well: one lock call names all accounts', v_held, v_new
        using errcode = 'BL004';
    end if;
  end if;
  foreach v_is_receivable in array case when v_is_owing then array[false, true] else array[false] end loop
    if v_is_missing then
      insert into ledger_accounts (name, owner_id, created_at)
        select n.name collate "C", min(n.owner_id), p_at from unnest(p_names, p_owners) n (name, owner_id)
        where n.name = any(v_new) and (n.name like 'owner:%') = v_is_receivable
          and not exists (select from ledger_accounts a where a.name = n.name)
        group by 1 order by 1
        on conflict do nothing;
    end if;
    perform 1 from ledger_accounts a where a.name = any(v_new) and (a.name like 'owner:%') = v_is_receivable
      order by a.name for no key update;
  end loop;
  if v_is_missing then
    select n.name into v_bad from unnest(p_names, p_owners) n (name, owner_id) join ledger_accounts a using (name)
      where a.owner_id <> n.owner_id limit 1;
    if found then
      raise exception 'account % is of another owner', v_bad using errcode = 'BL003';
    end if;
  end if;
  v_held := v_held || v_new;
  v_bad := set_config('bursar.locked_accounts', array_to_string(v_held, ','), true);
end $$;

/* For a transaction that decides by balances: locks every account that it will touch, those of its later postings
   included, and returns their balances in name order. */
create or replace function lock_accounts(p_owner text, p_names text[], p_at timestamptz)
  returns table (name text, balance_cents bigint) language plpgsql
  security definer set search_path = public, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off
as $$
#variable_conflict use_column
begin
  perform hold_accounts(p_names, array_fill(p_owner, array[cardinality(p_names)]), p_at);
  return query
    select a.name, a.balance_cents from ledger_accounts a where a.name = any(p_names) order by a.name;
end $$;

/* Gives a new wallet its accounts, so that lists find them. Only for a wallet that this transaction creates: no other transaction can
   know its accounts yet, so this is no lock call. */
create or replace function open_accounts(p_owner text, p_names text[], p_at timestamptz) returns void language sql volatile
  security definer set search_path = public, pg_temp
as $$
  insert into ledger_accounts (name, owner_id, created_at) select unnest(p_names), p_owner, p_at
$$;
