-- Every version of a policy as a whole, so that a decision can be read with the rules that it used. A policy that is
-- older than this table begins with its version of now, and who made that is not known.
create table policy_versions (
  policy_id text not null references policies (id),
  version int not null check (version > 0),
  owner_id text not null,
  agent_id text,
  terms jsonb not null check (jsonb_typeof(terms) = 'object'),
  changed_by text,
  request_id text,
  changed_at timestamptz not null,
  primary key (policy_id, version)
);
create trigger policy_versions_append_only before update or delete on policy_versions
  for each row execute function refuse_change();
create trigger policy_versions_not_emptied before truncate on policy_versions execute function refuse_change();

insert into policy_versions (policy_id, version, owner_id, agent_id, terms, changed_at)
select id, version, owner_id, agent_id, jsonb_build_object(
    'name', name,
    'maxTransactionCents', max_transaction_cents,
    'dailyLimitCents', daily_limit_cents,
    'monthlyLimitCents', monthly_limit_cents,
    'autoApproveLimitCents', auto_approve_limit_cents,
    'merchantAllowlist', merchant_allowlist,
    'merchantBlocklist', merchant_blocklist,
    'mccCategories', mcc_categories,
    'allowedMccs', allowed_mccs,
    'blockedMccs', blocked_mccs,
    'allowedCountries', allowed_countries,
    'lockToFirstMerchant', lock_to_first_merchant,
    'cooldownMinutes', cooldown_minutes,
    'requireIntent', require_intent,
    'requireAttestation', require_attestation,
    'attestationWindowMinutes', attestation_window_minutes,
    'expiresAfterMinutes', expires_after_minutes,
    'expirationAction', expiration_action,
    'activeHoursStart', active_hours_start,
    'activeHoursEnd', active_hours_end,
    'maxUsageCount', max_usage_count,
    'amountTolerancePercent', amount_tolerance_percent,
    'payeeMismatch', payee_mismatch
  ), updated_at
from policies;
