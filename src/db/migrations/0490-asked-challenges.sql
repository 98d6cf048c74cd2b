-- Who asked for the challenge of an intent: an approver's link or a credential of the owner, and a mark by which the
-- clients of one intent are told apart. Null where a further challenge is refused and replaces none.
alter table passkey_challenges
  add column asked_by text check (asked_by in ('link', 'credential')),
  add column asked_from text;
