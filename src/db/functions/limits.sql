-- One creation at a time of what is limited together, such as the tokens of one agent.
create or replace function lock_limit(p_limit text, p_owner text, p_subject text) returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended(p_limit || '/' || p_owner || '/' || p_subject, 461))
$$;
