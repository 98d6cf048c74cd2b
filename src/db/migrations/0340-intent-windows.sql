-- Recurring intents: where their schedule is anchored, and the window that is current or next and unpaid.
alter table intents
  add column anchor_at timestamptz,
  add column window_number int check (window_number > 0),
  add column window_due_at timestamptz,
  add column window_from_at timestamptz,
  add column window_to_at timestamptz,
  add constraint intents_anchor check (anchor_at is null or recurring is not null),
  add constraint intents_window check (num_nulls(window_number, window_due_at, window_from_at, window_to_at) in (0, 4)),
  add constraint intents_window_anchored check (window_number is null or anchor_at is not null),
  add constraint intents_recurring_unmatched check (recurring is null or matched_transaction_id is null);

-- One row for each window of a recurring intent that was charged or is over: the key lets one charge pay for it.
-- Written under the intent's lock. No foreign key: it is on the path of every decision.
create table intent_windows (
  intent_id text not null,
  number int not null check (number > 0),
  due_at timestamptz not null,
  from_at timestamptz not null,
  to_at timestamptz not null check (to_at > from_at),
  status text not null check (status in ('open', 'matched', 'completed', 'missed')),
  transaction_id text,
  completed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (intent_id, number),
  check ((transaction_id is not null) = (status in ('matched', 'completed'))),
  check ((completed_at is not null) = (status = 'completed'))
) with (fillfactor = 85);
create unique index intent_windows_transaction on intent_windows (transaction_id) where transaction_id is not null;

-- It tells open intents by day and by month from now on.
drop function if exists spending_counters(text, text, timestamptz, boolean);
