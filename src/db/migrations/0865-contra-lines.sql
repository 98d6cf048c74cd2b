-- The lines of contra accounts in the order of their seals, with the sums through each line, as the sealer finds them:
-- an account that has no running balance then has a statement, and its sums at any sealed instant.
create table contra_lines (
  account text collate "C" not null,
  number bigint not null check (number > 0),
  journal_id text collate "C" not null,
  line smallint not null,
  debited_cents bigint not null,
  credited_cents bigint not null,
  primary key (account, number)
);
alter table contra_totals add column lines bigint not null default 0;

insert into contra_lines (account, number, journal_id, line, debited_cents, credited_cents)
select e.account, row_number() over sealed, e.journal_id, e.line, -sum(least(e.amount_cents, 0)) over sealed,
  sum(greatest(e.amount_cents, 0)) over sealed
from journal_seals s join ledger_entries e on e.journal_id = s.journal_id
where e.account_version is null
window sealed as (partition by e.account order by s.sequence, e.line);
update contra_totals t set lines = (select max(number) from contra_lines l where l.account = t.account);

create trigger contra_lines_append_only before update or delete on contra_lines
  for each row execute function refuse_change();
create trigger contra_lines_not_emptied before truncate on contra_lines execute function refuse_change();
