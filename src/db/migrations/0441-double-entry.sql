-- Double entry for every role, also for the one that owns the tables: the lines of a journal are inserted by one
-- statement and sum to zero, and no journal is committed without them.

create function require_balanced_journals() returns trigger language plpgsql as $$
declare
  v_bad text;
begin
  select e.journal_id into v_bad from ledger_entries e
    where e.journal_id in (select journal_id from added)
    group by e.journal_id having sum(e.amount_cents) <> 0 or count(*) < 2 limit 1;
  if found then
    raise exception 'journal % is not balanced', v_bad using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create trigger ledger_entries_balanced after insert on ledger_entries referencing new table as added
  for each statement execute function require_balanced_journals();

create function require_lines() returns trigger language plpgsql as $$
begin
  if not exists (select from ledger_entries e where e.journal_id = new.id) then
    raise exception 'journal % has no lines', new.id using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create constraint trigger journals_have_lines after insert on journals deferrable initially deferred
  for each row execute function require_lines();

-- As for the tables of the ledger: no statement empties what is evidence.
create trigger events_not_emptied before truncate on events execute function refuse_change();
create trigger audit_not_emptied before truncate on audit execute function refuse_change();
create trigger decisions_not_emptied before truncate on decisions execute function refuse_change();
