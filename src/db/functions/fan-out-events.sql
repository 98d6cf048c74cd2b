-- One delivery for each event that a subscription wants, in the transaction of the event. Where a subscription is
-- ordered, its deliveries keep the order of their subject.
create or replace function fan_out_events() returns trigger language plpgsql
  set search_path = public, pg_temp as $$
begin
  insert into webhook_deliveries
    (id, webhook_id, owner_id, event_id, event, plan, status, next_attempt_at, created_at, subject_id)
  select new_time_ordered_id('whd'), w.id, e.owner_id, e.id, e.name,
         coalesce((select c.plan from customers c where c.owner_id = e.owner_id), w.assumed_plan),
         'pending', e.created_at, e.created_at, case when w.ordered then e.subject_id end
  from inserted e
  join webhooks w on w.owner_id = e.owner_id and w.deleted_at is null and w.status = 'active'
                 and w.events && array[e.name, '*']
  order by e.seq, w.id;
  if found then perform announce_deliveries(); end if;
  return null;
end $$;
