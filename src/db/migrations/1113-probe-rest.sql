-- Where attempts in a row have had no answer: no first attempt begins before this instant, in real time. The version before
-- this one neither writes nor reads it.
alter table webhook_health add column probe_after timestamptz;
