-- Approver's links and challenges serve every kind of record that a person approves, not intents alone. The prefix of
-- the id names the kind.
alter table approval_links drop constraint approval_links_intent_id_fkey;
alter table approval_links rename column intent_id to subject_id;
alter table approval_links rename constraint approval_links_intent_id_key to approval_links_subject_id_key;

-- `approval`: for a record of any kind. `terms` are the figures that the person is shown, in one text: an answer to the
-- challenge approves no others.
alter table passkey_challenges drop constraint passkey_challenges_purpose_check;
alter table passkey_challenges add constraint passkey_challenges_purpose_check
  check (purpose in ('register', 'enroll', 'revoke_passkey', 'intent', 'approval', 'generic'));
alter table passkey_challenges add column terms text check (length(terms) <= 500);
alter table passkey_challenges add constraint passkey_challenges_terms check (purpose <> 'approval' or terms is not null);
