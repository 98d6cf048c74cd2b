-- For a challenge of an intent: the highest charge that its tolerance allows. The approver's page shows the same amount.
alter table passkey_challenges add column most_cents bigint check (most_cents >= amount_cents);

-- Intents whose attestation ends with the removal of their passkey: open ones, and confirmed ones without a charge.
drop index intents_attested;
create index intents_attested on intents (attested_by)
  where attested_by is not null
    and (status in ('pending_approval', 'approved') or status = 'completed' and matched_transaction_id is null);
