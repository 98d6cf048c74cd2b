-- A rotated card: which card takes its place, and whose payments go on counting against the limits that are carried over.
alter table cards
  add column replaces_card_id text check (replaces_card_id <> id),
  add column replaced_by_card_id text check (replaced_by_card_id is null or status = 'closed'),
  add column earlier_card_ids text[] not null default '{}';
-- One rotation of a card at a time: the card in the making that is to take its place.
create unique index cards_one_rotation on cards (replaces_card_id) where is_provisioning and status <> 'closed';
