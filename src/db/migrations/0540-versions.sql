-- The version of a row counts its updates. The database counts, so no statement can forget it or count twice.
-- `policies.version` is not one of them: it is published and counts the versions of the policy's rules.
create function count_version() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  new.version := old.version + 1;
  return new;
end $$;

create trigger agents_version before update on agents for each row execute function count_version();
create trigger cards_version before update on cards for each row execute function count_version();
create trigger intents_version before update on intents for each row execute function count_version();
create trigger transactions_version before update on transactions for each row execute function count_version();
