-- A trigger that waits for the commit runs as the owner of the tables, but with the caller's search path: a temporary
-- view named like one of the tables would run the caller's code with the owner's rights.
do $$
declare
  v_function regprocedure;
begin
  for v_function in select p.oid from pg_proc p
      where p.pronamespace = 'public'::regnamespace and p.prorettype = 'trigger'::regtype loop
    execute format('alter function %s set search_path = public, pg_temp', v_function);
  end loop;
end $$;

-- An account's later entries are never earlier, so one at the end of time would be the end of its history.
alter table journals add constraint journals_created_at_finite check (isfinite(created_at));
