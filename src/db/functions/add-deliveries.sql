-- Deliveries that are made without a new event: again, for what was missed, or as a test. Only for subscriptions that
-- are active. The places of the arrays belong together; without ids new ones are made. Returns how many were made.
create or replace function add_deliveries(
  p_webhooks text[], p_event_ids text[], p_events text[], p_ids text[], p_origin text, p_cause text, p_at timestamptz
) returns int language plpgsql as $$
declare
  v_made int;
begin
  insert into webhook_deliveries
    (id, webhook_id, owner_id, event_id, event, plan, status, next_attempt_at, created_at, origin, cause_id)
  select coalesce(i.id, new_time_ordered_id('whd')), w.id, w.owner_id, i.event_id, i.event,
    coalesce((select c.plan from customers c where c.owner_id = w.owner_id), w.assumed_plan),
    'pending', p_at, p_at, p_origin, p_cause
  from unnest(p_webhooks, p_event_ids, p_events, p_ids) with ordinality as i (webhook_id, event_id, event, id, place)
  join webhooks w on w.id = i.webhook_id and w.deleted_at is null and w.status = 'active'
  order by i.place;
  get diagnostics v_made = row_count;
  if v_made > 0 then perform announce_deliveries(); end if;
  return v_made;
end $$;
