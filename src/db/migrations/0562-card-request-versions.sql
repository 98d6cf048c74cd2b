-- The database counts the versions of card requests too.
create trigger card_requests_version before update on card_requests for each row execute function count_version();
