-- When a signing key ends: at once by a revocation, after an overlap by a rotation of an agent's key. From then on it is
-- not published and verifies nothing. Real time, like the times of signatures.
alter table signing_keys add column ends_at timestamptz;
drop index signing_keys_agent;
create unique index signing_keys_agent on signing_keys (agent_id) where purpose = 'agent' and ends_at is null;
create index signing_keys_of_agent on signing_keys (agent_id) where purpose = 'agent';

-- A revoked key stays revoked, also for the role of the application.
create function refuse_later_end() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if new.ends_at is null or new.ends_at > old.ends_at then
    raise exception 'the end of signing key % cannot be postponed', old.kid;
  end if;
  return new;
end $$;
create trigger signing_keys_end before update of ends_at on signing_keys for each row execute function refuse_later_end();
