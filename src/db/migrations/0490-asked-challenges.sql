-- Who requested the challenge of an intent: an approver's link or a credential of the owner, and a mark that
-- distinguishes the clients of one intent. Null where a further challenge is refused instead of replacing an older one.
alter table passkey_challenges
  add column asked_by text check (asked_by in ('link', 'credential')),
  add column asked_from text;
