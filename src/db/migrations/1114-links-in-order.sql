-- The sweep reads confirms without an authorization in the order of this index, a batch at a time. In the order of their ids
-- it read all payments.
drop index transactions_adoption_ends;
create index transactions_links on transactions (link_until, id) where link_until is not null;
