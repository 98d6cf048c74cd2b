-- One delivery for each event that a subscription wants, in the transaction of the event. Where a subscription is
-- ordered, its deliveries keep the order of their subject.
create or replace function fan_out_events() returns trigger language plpgsql
  set search_path = public, pg_temp as $$
begin
  insert into webhook_deliveries
    (id, webhook_id, owner_id, event_id, event, plan, status, next_attempt_at, created_at, subject_id)
  select 'whd_' || id_characters(m.uuid), m.webhook_id, m.owner_id, m.event_id, m.event, m.plan, 'pending', m.created_at,
    m.created_at, m.subject_id
  from (
    select uuid_send(uuidv7()) as uuid, w.id as webhook_id, e.owner_id, e.id as event_id, e.name as event,
      coalesce(o.plan, w.assumed_plan) as plan, e.created_at, case when w.ordered then e.subject_id end as subject_id
    from inserted e
    join webhooks w on w.owner_id = e.owner_id and w.deleted_at is null and w.status = 'active'
                   and w.events && array[e.name, '*']
    -- The plan is read once for each owner.
    left join (
      select i.owner_id, (select c.plan from customers c where c.owner_id = i.owner_id) as plan
      from inserted i group by i.owner_id) o on o.owner_id = e.owner_id
    -- Each uuid once, and in the order of the deliveries.
    order by e.seq, w.id offset 0) m;
  if found then perform announce_deliveries(); end if;
  return null;
end $$;
