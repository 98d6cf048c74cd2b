-- Saved payees of bank transfers, and the evidence of each screening against the sanctions list.
create table beneficiaries (
  id text primary key,
  owner_id text not null,
  name text not null check (length(name) between 1 and 70),
  -- Null once the beneficiary is deleted: what is left is the masked form.
  sealed_iban text,
  iban_masked text not null,
  bic text check (length(bic) in (8, 11)),
  country text not null check (country ~ '^[A-Z]{2}$'),
  email text check (length(email) <= 254),
  agents_may_pay boolean not null,
  status text not null check (status in ('active', 'disabled')),
  screening_result text not null check (screening_result in ('clear', 'hit')),
  screening_list text not null,
  -- What was found that nobody has dismissed, and what was dismissed for this name.
  matches jsonb not null,
  dismissals jsonb not null,
  screened_at timestamptz not null,
  request_id text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  check ((deleted_at is null) or (sealed_iban is null and email is null))
);
create trigger beneficiaries_version before update on beneficiaries for each row execute function count_version();
create index beneficiaries_owner on beneficiaries (owner_id, created_at desc, id desc) where deleted_at is null;
create index beneficiaries_iban on beneficiaries (owner_id, iban_masked) where deleted_at is null;

create table beneficiary_screenings (
  number bigint generated always as identity primary key,
  beneficiary_id text not null references beneficiaries (id),
  owner_id text not null,
  occasion text not null check (occasion in ('created', 'renamed', 'sending')),
  list text not null,
  result text not null check (result in ('clear', 'hit')),
  matches jsonb not null,
  request_id text not null,
  created_at timestamptz not null
);
create index beneficiary_screenings_beneficiary on beneficiary_screenings (beneficiary_id, number desc);
create trigger beneficiary_screenings_append_only before update or delete on beneficiary_screenings
  for each row execute function refuse_change();
create trigger beneficiary_screenings_not_emptied before truncate on beneficiary_screenings
  execute function refuse_change();
