-- Open holds by account: what the ledger's `held` balances must equal.
create or replace function open_holds(p_owner text) returns table (account text, held_cents bigint)
language sql stable as $$
  select source || ':held', sum(cents)::bigint from (
    select t.funding_source, t.held_cents from transactions t
    where t.owner_id = p_owner and t.status = 'pending' and t.held_cents > 0
    union all
    select coalesce('wallet:' || x.from_wallet_id, 'agent:' || x.agent_id), x.amount_cents from transfers x
    where x.owner_id = p_owner and x.status in ('pending_approval', 'pending', 'submitted')
  ) held (source, cents) group by source
$$;
