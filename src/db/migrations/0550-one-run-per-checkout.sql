-- One workflow run per checkout, `checkout/{checkoutId}`, instead of one per intent. A version
-- orders the answers that a run gets about its row.
alter table checkouts add column version integer not null default 1;
alter table simulations add column version integer not null default 1;
update workflow_runs set is_open = false, wanted_wake = false, due_at = null where workflow = 'checkout' and is_open;
insert into workflow_runs (id, workflow, subject_id, owner_id, agent_id, stage, due_at, created_at)
  select 'checkout/' || id, 'checkout', id, owner_id, agent_id, status, coalesce(next_attempt_at, created_at), created_at
  from checkouts where status in ('open', 'offered', 'paying');
create trigger checkouts_version before update on checkouts for each row execute function count_version();
create trigger simulations_version before update on simulations for each row execute function count_version();
