-- The list of the transfers to one payee.
create index transfers_payee on transfers (beneficiary_id, created_at desc, id desc) where beneficiary_id is not null;
