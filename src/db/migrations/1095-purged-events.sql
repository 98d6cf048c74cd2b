-- Up to which number an owner's events have been removed, so that a reader of the feed whose position is older learns
-- that events are missing. What was removed before this table was made is not known.
create table purged_events (
  owner_id text primary key,
  through bigint not null
);
