-- Makes what is missing and locks all of them in one order: whoever needs balances to decide calls this first.
create or replace function lock_accounts(p_owner text, p_names text[], p_at timestamptz)
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
