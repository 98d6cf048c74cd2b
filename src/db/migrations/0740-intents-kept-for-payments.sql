-- An intent whose machine payment is open stands until the payment has ended, whatever its deadline is. `open_payment_at`
-- is when the payment was begun: a charge with its token counts as of then.
alter table intents add column open_payment_id text, add column open_payment_at timestamptz;
update intents i set open_payment_id = p.id, open_payment_at = p.created_at from mpp_payments p
  where p.intent_id = i.id
    and p.status in ('requested', 'challenged', 'allowed', 'minted', 'presenting', 'accepted', 'unknown');
alter table intents add constraint intents_open_payment check ((open_payment_id is null) = (open_payment_at is null));
