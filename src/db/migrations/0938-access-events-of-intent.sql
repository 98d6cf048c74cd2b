-- The trace of an intent reads the accesses that were asked for it.
create index access_events_intent on access_events (intent_id, created_at desc, id desc) where intent_id is not null;
