-- Failed deliveries are retried by one workflow run per subscription, `webhook-endpoint/{webhookId}`, not by one per
-- delivery.

-- Why deliveries wait, for an operator: what came of the latest attempt that failed.
alter table webhook_health
  add column last_outcome text check (last_outcome in ('failure', 'timeout', 'gone')),
  add column last_status int;

-- Oldest first among what is due, however much waits that is not due: the due time is read from the index.
drop index webhook_deliveries_retrying;
create index webhook_deliveries_retrying on webhook_deliveries (webhook_id, seq, next_attempt_at)
  where status = 'pending' and attempts_made > 0;

-- Deliveries that waited go on under the run of their subscription. A run of the old kind has nothing to do any more
-- and no code; where one is left in Temporal, it may be terminated.
update processes set is_open = false, due_at = null, wanted_wake = false, waking_until = null
where workflow = 'webhookDelivery' and (is_open or wanted_wake or waking_until is not null);
insert into processes (id, workflow, subject_id, owner_id, agent_id, stage, due_at, created_at)
select 'webhook-endpoint/' || webhook_id, 'webhookEndpoint', webhook_id, min(owner_id), null, 'retrying',
       min(next_attempt_at), min(created_at)
from webhook_deliveries
where attempts_made > 0 and status in ('pending', 'delivering')
group by webhook_id;
