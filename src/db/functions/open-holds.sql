-- Open holds by account: what the ledger's `held` balances must equal.
create or replace function open_holds(p_owner text) returns table (account text, held_cents bigint)
language sql stable as $$
  select t.funding_source || ':held', sum(t.held_cents)::bigint from transactions t
  where t.owner_id = p_owner and t.status = 'pending' and t.held_cents > 0 group by t.funding_source
$$;
