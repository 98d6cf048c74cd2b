-- The files of banks that were read, and what was booked of them or waits for an operator. Lines about our own
-- transfers are not here: the transfers keep what they heard.
create table bank_files (
  id text primary key,
  adapter text not null,
  kind text not null check (kind in ('status_report', 'notification')),
  message_id text not null check (length(message_id) between 1 and 35),
  digest text not null check (digest ~ '^[0-9a-f]{64}$'),
  -- The answer, which a repeated file gets again.
  result jsonb not null,
  request_id text not null,
  received_at timestamptz not null,
  constraint bank_files_message unique (adapter, kind, message_id)
);
create index bank_files_digest on bank_files (adapter, digest);

create table bank_entries (
  id text primary key,
  adapter text not null,
  -- Null where a status report said it, which has no account.
  account_iban text check (length(account_iban) between 15 and 34),
  servicer_reference text not null,
  direction text check (direction in ('credit', 'debit')),
  -- It takes back an earlier line. The direction is its own.
  is_reversal boolean not null,
  amount_cents bigint check (amount_cents >= 0),
  -- The bank's day, as it wrote it.
  booked_on text check (booked_on ~ '^\d{4}-\d{2}-\d{2}$'),
  status text not null check (status in ('credited', 'suspense', 'assigned', 'unbooked')),
  -- Why it was not credited; null for what was.
  why text check (length(why) between 1 and 300),
  owner_id text,
  wallet_id text references wallets (id),
  funding_id text references fundings (id),
  journal_id text,
  assigned_journal_id text,
  -- The line that had its reference first, with other content.
  contradicts text references bank_entries (id),
  -- Of a debit and of money that comes back: account and end-to-end id, hashed. A debit has that of its return.
  payment_key text check (payment_key ~ '^[0-9a-f]{64}$'),
  -- Who paid and with which text, until an operator has assigned it: personal data.
  sealed_details text,
  request_id text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status = 'unbooked') = (journal_id is null)),
  check ((status in ('credited', 'assigned')) = (wallet_id is not null)),
  check ((wallet_id is null) = (owner_id is null)),
  check ((status = 'assigned') = (assigned_journal_id is not null)),
  check ((status = 'credited') = (why is null)),
  check (status = 'unbooked' or (direction = 'credit' and not is_reversal and amount_cents > 0)),
  check (contradicts is null or status = 'unbooked')
);
-- The reference of the bank names a line of its account, however often, in whichever file and by whichever way it comes.
-- A line with a known reference and other content stands beside it, once.
create unique index bank_entries_line on bank_entries (account_iban, servicer_reference)
  where account_iban is not null and contradicts is null;
create unique index bank_entries_report on bank_entries (adapter, servicer_reference)
  where account_iban is null and contradicts is null;
create unique index bank_entries_contradiction on bank_entries (contradicts, direction, amount_cents, is_reversal, payment_key)
  nulls not distinct where contradicts is not null;
create index bank_entries_payment on bank_entries (payment_key) where direction = 'debit';
create trigger bank_entries_version before update on bank_entries for each row execute function count_version();
create index bank_entries_time on bank_entries (created_at desc, id desc);
create index bank_entries_status on bank_entries (status, created_at desc, id desc) where status <> 'credited';
