-- One word per concept: a workflow run is not a process, and what a payment draws on is its funding source.
alter table processes rename to workflow_runs;
do $$
declare v_name text;
begin
  for v_name in select indexname from pg_indexes
    where schemaname = current_schema() and tablename = 'workflow_runs' and indexname like 'processes\_%' loop
    execute format('alter index %I rename to %I', v_name, replace(v_name, 'processes_', 'workflow_runs_'));
  end loop;
end $$;
alter table transactions rename column purse to funding_source;
alter table transactions rename column adopt_until to link_until;
alter table cards rename column told_state to synced_state;
alter table passkey_challenges rename column most_cents to max_charge_cents;
drop function if exists purse_of(agents);
