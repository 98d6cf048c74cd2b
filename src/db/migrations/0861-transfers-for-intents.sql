-- A transfer, or a split of transfers, may pay for an intent of its agent: the intent names it from the order on, and keeps
-- it where money left. A transfer that never left opens the intent again.
alter table intents add column transfer_id text;
alter table intents
  add constraint intents_one_payer check (transfer_id is null or matched_transaction_id is null),
  add constraint intents_recurring_by_card check (transfer_id is null or recurring is null);
alter table transfers add column intent_id text check (intent_id is null or agent_id is not null);
create index transfers_intent on transfers (intent_id) where intent_id is not null;
