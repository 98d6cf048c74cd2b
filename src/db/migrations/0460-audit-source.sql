-- Where an audited action came from, and what became of it. Null in rows from before. An address is personal data:
-- it is emptied after 90 days, which is the only change that an audit row takes.

alter table audit add column source_address text;
alter table audit add column outcome text check (outcome in ('done', 'admitted', 'refused'));
create index audit_with_address on audit (created_at) where source_address is not null;

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.source_address is not null and new.source_address is null
    and to_jsonb(new) = to_jsonb(old) || '{"source_address": null}' then
    return new;
  end if;
  raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'integrity_constraint_violation';
end $$;
drop trigger audit_append_only on audit;
create trigger audit_append_only before update or delete on audit for each row execute function refuse_audit_change();

-- Empties the addresses of at most p_limit audit rows from before that instant; returns how many.
create function purge_audit_addresses(p_before timestamptz, p_limit int) returns int
language plpgsql volatile security definer set search_path = public, pg_temp as $$
declare
  v_purged int;
begin
  update audit set source_address = null where id in (
    select id from audit where source_address is not null and created_at < p_before
    order by created_at limit p_limit for update skip locked);
  get diagnostics v_purged = row_count;
  return v_purged;
end $$;
