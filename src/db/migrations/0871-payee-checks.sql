-- What banks answered when they were asked whether an account belongs to a name.
create table payee_checks (
  number bigint generated always as identity primary key,
  beneficiary_id text not null references beneficiaries (id),
  owner_id text not null,
  -- The name that was asked for.
  name text not null,
  result text not null check (result in ('match', 'close_match', 'no_match', 'not_possible')),
  reason text check (reason in ('no_provider', 'no_answer', 'not_supported')),
  sealed_suggested_name text,
  request_id text not null,
  run_id text,
  created_at timestamptz not null,
  check ((result = 'not_possible') = (reason is not null)),
  check ((result = 'close_match') = (sealed_suggested_name is not null))
);
create index payee_checks_beneficiary on payee_checks (beneficiary_id, number desc);
create trigger payee_checks_append_only before update or delete on payee_checks
  for each row execute function refuse_change();
create trigger payee_checks_not_emptied before truncate on payee_checks execute function refuse_change();
