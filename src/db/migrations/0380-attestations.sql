-- Of a challenge for an intent: the most that its tolerance lets through, which the person is shown as well.
alter table passkey_challenges add column most_cents bigint check (most_cents >= amount_cents);

-- What a passkey that goes may still stand by: open intents, and confirmed ones that nobody has charged yet.
drop index intents_attested;
create index intents_attested on intents (attested_by)
  where attested_by is not null
    and (status in ('pending_approval', 'approved') or status = 'completed' and matched_transaction_id is null);
