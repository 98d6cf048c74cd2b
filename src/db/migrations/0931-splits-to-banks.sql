-- Splits with lines to bank accounts wait for their lines. The status follows from the lines; a check would only repeat
-- the rules of the states.
alter table transfer_splits drop constraint transfer_splits_status_check;
alter table transfer_splits
  alter column completed_at drop not null,
  add column version integer not null default 1,
  add column updated_at timestamptz,
  add column approval_rule text,
  -- One decision of a person about every line that waited.
  add column decision text check (decision in ('approved', 'denied')),
  add column decided_by text,
  add column decided_at timestamptz,
  add column decision_reason text,
  add constraint transfer_splits_status_check check (status in ('pending_approval', 'pending', 'completed',
    'partially_completed', 'returned', 'failed', 'cancelled', 'denied')),
  add constraint transfer_splits_decided check ((decision is null) = (decided_at is null));
update transfer_splits set updated_at = completed_at;
alter table transfer_splits alter column updated_at set not null;
create trigger transfer_splits_version before update on transfer_splits for each row execute function count_version();

-- A split is one payment of its agent. It stops being one with its last line that never left, not with its first.
create or replace function release_transfer_spending() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  insert into spending_days as d (agent_id, card_id, day, spent_cents, payments)
    select r.agent_id, '', (r.created_at at time zone 'UTC')::date, -sum(r.cents), -sum(r.payments)
    from (
      select f.agent_id, f.created_at, sum(f.amount_cents) as cents,
        case when f.split_id is null then count(*)
          when exists (select from transfers o where o.split_id = f.split_id
            and o.status not in ('failed', 'denied', 'cancelled')) then 0
          else 1 end as payments
      from fresh f join stale s on s.id = f.id
      where f.agent_id is not null and f.status in ('failed', 'denied', 'cancelled')
        and s.status not in ('failed', 'denied', 'cancelled')
      group by f.agent_id, f.created_at, f.split_id
    ) r group by 1, 3 order by 1, 3
    on conflict (agent_id, day, card_id) do update
      set spent_cents = d.spent_cents + excluded.spent_cents, payments = d.payments + excluded.payments;
  return null;
end $$;
