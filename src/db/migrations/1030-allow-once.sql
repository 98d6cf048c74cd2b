-- The declined charge that an intent was made from: a person is asked about it, or the owner has allowed it once. Ids,
-- codes and figures, and the merchant as the network named it.
alter table intents add column declined_charge jsonb;
-- Of an intent that lets one declined charge pass: its transaction. A charge is allowed once, however often that is asked.
alter table intents add column allows_once_of text,
  add constraint intents_allowing_once_name_the_charge check (allows_once_of is null or declined_charge is not null);
create unique index intents_allowing_once on intents (allows_once_of) where allows_once_of is not null;
