-- What a journal says, without ids, times and salts: the same cause with other content is an error. Null: posted
-- before this column existed.
alter table journals add column content_hash text check (length(content_hash) = 64);

-- When the account's last entry was made. An entry's time is never earlier than that of the entry before it.
alter table ledger_accounts add column last_entry_at timestamptz;
update ledger_accounts a set last_entry_at =
  (select max(e.created_at) from ledger_entries e where e.account = a.name);

-- Beyond 2^53 - 1 a number is no longer exact in the processes. Each balance is a difference of these two sums.
alter table ledger_accounts add constraint ledger_accounts_within_range
  check (greatest(debited_cents, credited_cents) <= 9007199254740991);

-- The order of an account's entries.
create unique index ledger_entries_version on ledger_entries (account, account_version desc)
  where account_version is not null;

-- Both functions have other results now; the files in `functions/` create them again.
drop function if exists post_journals(jsonb);
drop function if exists lock_accounts(text, text[], timestamptz);
drop type journal_line;
create type journal_line as (
  ordinal int, journal_id text, owner_id text, line int, account text, amount_cents bigint, is_running boolean,
  change_cents bigint, receivable text, created_at timestamptz
);
