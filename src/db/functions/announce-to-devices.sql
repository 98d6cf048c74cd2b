-- One push message for each device that is to hear of the event, in the transaction of the event. A request is announced
-- when it has its approver's link, once to each device: a transfer while a person decides about it, the lines of a split by
-- the split alone. A risk event about a request has that request as its subject, and is
-- left out where the device hears of the request. Devices are locked against deletion; one that is being deleted is
-- left out, so that the change neither fails by it nor waits for it.
create or replace function announce_to_devices() returns trigger language plpgsql
  set search_path = public, pg_temp as $$
declare
  v_kind text := case when new.name like 'risk.%' then 'risk' else 'approval' end;
  v_subject text := coalesce(case when new.name = 'risk.review_required' then new.data->>'intentId' end, new.subject_id);
  v_is_request boolean := exists (select from approval_links l where l.subject_id = v_subject);
begin
  if new.name like 'transfer.%'
     and (new.data->>'status' is distinct from 'pending_approval' or new.data->>'splitId' is not null) then
    return null;
  end if;
  if v_kind = 'approval' and not v_is_request then
    return null;
  end if;
  insert into push_messages (subscription_id, kind, subject_id, event, amount_cents, next_attempt_at, expires_at, created_at)
  select s.id, v_kind, v_subject, new.name,
         round(coalesce(new.data->>'expectedAmountEuros', new.data->>'amountEuros', new.data->>'totalAmountEuros')::numeric * 100),
         clock_timestamp(), clock_timestamp() + interval '1 day', clock_timestamp()
  from push_subscriptions s where s.owner_id = new.owner_id and v_kind = any(s.events)
    and not (new.name = 'risk.review_required' and v_is_request and 'approval' = any(s.events))
  for key share of s skip locked
  on conflict (subscription_id, subject_id) where kind = 'approval' do nothing;
  return null;
end $$;
