/* The only way of the application role to write events and audit rows, besides apply_authorization: rows of both, as
   arrays of objects that are named like the columns. */
create or replace function record_changes(p_events jsonb, p_audits jsonb) returns void language sql volatile
  security definer set search_path = public, pg_temp
as $$
  insert into events (id, owner_id, agent_id, subject_id, name, data, request_id, run_id, created_at)
    select id, owner_id, agent_id, subject_id, name, data, request_id, run_id, created_at
    from jsonb_to_recordset(p_events) as e (id text, owner_id text, agent_id text, subject_id text, name text,
      data jsonb, request_id text, run_id text, created_at timestamptz);
  insert into audit (id, owner_id, agent_id, actor, action, subject_id, details, request_id, source_address, outcome,
      created_at)
    select id, owner_id, agent_id, actor, action, subject_id, details, request_id, source_address, outcome, created_at
    from jsonb_to_recordset(p_audits) as a (id text, owner_id text, agent_id text, actor text, action text,
      subject_id text, details jsonb, request_id text, source_address text, outcome text, created_at timestamptz);
$$;
