-- The call that asked for a payment: its request id is stored already; this adds the run id that it belongs to. Events
-- of the payment carry both. The request id of a network message itself is stored with the message.
alter table checkouts add column run_id text;
alter table simulations add column run_id text;
alter table network_messages add column request_id text;
alter table transaction_events add column request_id text;
