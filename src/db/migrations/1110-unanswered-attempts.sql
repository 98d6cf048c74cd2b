-- Attempts in a row without an answer. `timeouts_in_row` has counted refused connections, failed names and failed TLS too
-- since these are probed as time-outs are. The version before this one reads and writes only the old column, so both are
-- written here and the old one is read; the next release reads this one, and the release after it drops the old one.
alter table webhook_health
  add column unanswered_in_row int not null default 0 check (unanswered_in_row >= 0);
update webhook_health set unanswered_in_row = timeouts_in_row where timeouts_in_row > 0;
