-- What the merchant charged by each message of the network, in its own currency, where the network says so.
alter table transaction_events add column merchant_amount numeric;
alter table transaction_events add column merchant_currency text;
