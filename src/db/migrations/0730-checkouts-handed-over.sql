-- A checkout whose target answers 402 ends, and a machine payment pays instead.
alter table checkouts drop constraint checkouts_status_check;
alter table checkouts add constraint checkouts_status_check
  check (status in ('open', 'offered', 'paying', 'paid', 'declined', 'refused', 'failed', 'handed_over'));
alter table checkouts add column mpp_payment_id text
  constraint checkouts_mpp_payment unique references mpp_payments (id);
alter table checkouts add constraint checkouts_handed_over
  check ((status = 'handed_over') = (mpp_payment_id is not null));
