/* Double entry for every role, also for the one that owns the tables: the lines of a journal are inserted by one
   statement and sum to zero, and no journal is committed without them. Both look at the rows of the statement alone or
   by the key: a plan that was made while the tables were small must not read them when they are large. */
create or replace function require_balanced_journals() returns trigger language plpgsql
  set search_path = public, pg_temp as $$
declare
  v_bad text;
begin
  select a.journal_id into v_bad from added a
    group by a.journal_id having sum(a.amount_cents) <> 0 or count(*) < 2 limit 1;
  if found then
    raise exception 'journal % is not balanced', v_bad using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
