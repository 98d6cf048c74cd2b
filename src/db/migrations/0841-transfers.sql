-- Money that an owner or an agent moves between accounts of one owner. A split is several transfers of one call.
create table transfer_splits (
  id text primary key,
  owner_id text not null,
  agent_id text,
  -- Null: out of the budget of the agent.
  from_wallet_id text check (from_wallet_id is not null or agent_id is not null),
  total_amount_cents bigint not null check (total_amount_cents > 0),
  status text not null check (status in ('completed')),
  request_id text not null,
  run_id text,
  created_at timestamptz not null,
  completed_at timestamptz not null
);

create table transfers (
  id text primary key,
  owner_id text not null,
  agent_id text,
  type text not null check (type in ('internal')),
  -- Null: out of the budget of the agent.
  from_wallet_id text check (from_wallet_id is not null or agent_id is not null),
  to_wallet_id text not null check (to_wallet_id <> from_wallet_id),
  amount_cents bigint not null check (amount_cents > 0),
  reference text check (length(reference) <= 140),
  memo text check (length(memo) <= 1000),
  metadata jsonb not null default '{}',
  status text not null check (status in ('completed')),
  split_id text,
  split_line smallint check (split_line between 0 and 49),
  journal_id text not null,
  request_id text not null,
  run_id text,
  created_at timestamptz not null,
  completed_at timestamptz not null,
  check ((split_id is null) = (split_line is null))
);
create index transfers_owner on transfers (owner_id, created_at desc, id desc);
create index transfers_from on transfers (from_wallet_id, created_at desc, id desc) where from_wallet_id is not null;
create index transfers_to on transfers (to_wallet_id, created_at desc, id desc);
create index transfers_agent on transfers (agent_id, created_at desc, id desc) where agent_id is not null;
create unique index transfers_split on transfers (split_id, split_line) where split_id is not null;

-- What an agent transfers is spent, on the day on which it was transferred and with no card. A split is one payment.
create function add_transfer_spending() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  insert into spending_days as d (agent_id, card_id, day, spent_cents, payments)
    select agent_id, '', (created_at at time zone 'UTC')::date, sum(amount_cents),
      count(*) filter (where coalesce(split_line, 0) = 0)
    from fresh where agent_id is not null group by 1, 3 order by 1, 3
    on conflict (agent_id, day, card_id) do update
      set spent_cents = d.spent_cents + excluded.spent_cents, payments = d.payments + excluded.payments;
  return null;
end $$;
create trigger transfers_add_spending after insert on transfers
  referencing new table as fresh for each statement execute function add_transfer_spending();
