-- What a bank transfer for a pending top-up says. An incoming credit is matched by it, so it is unique.
alter table fundings add column reference text;
update fundings set reference = id where status = 'pending';
alter table fundings add check (status <> 'pending' or reference is not null);
create unique index fundings_reference on fundings (reference) where reference is not null;
