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

-- True for accounts with a running balance; false for contra accounts; null for a name that is neither.
create function has_running_balance(p_account text) returns boolean language sql immutable parallel safe as $$
  select case
    when p_account ~ '^(wallet:wal|agent:ag)_[a-z0-9]{8,64}:(available|held)$' then true
    when p_account ~ '^owner:own_[a-z0-9]{8,64}:receivable$' then true
    when p_account ~ '^(external:(cards|sepa|processor)|suspense|fees|interowner):own_[a-z0-9]{8,64}$' then false
  end
$$;

-- An account belongs to the owner of the wallet or agent that it is named after.
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

create type journal_line as (
  ordinal int, journal_id text, owner_id text, line int, account text, amount_cents bigint, is_running boolean,
  change_cents bigint, created_at timestamptz
);

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
