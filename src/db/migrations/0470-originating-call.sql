-- The call that asked for a payment: its request id is stored already, and now the run that it belongs to. What follows
-- from the payment carries both; the request id of a network message itself stays with the message.
alter table checkouts add column run_id text;
alter table simulations add column run_id text;
alter table network_messages add column request_id text;
alter table transaction_events add column request_id text;
