-- Dead letters of a deleted subscription cannot be delivered again, so they leave the queue with it. Those from before do
-- it here.
update webhook_deliveries d set dismissed_at = w.deleted_at
from webhooks w
where w.id = d.webhook_id and w.deleted_at is not null and d.status = 'dead' and d.dismissed_at is null;
