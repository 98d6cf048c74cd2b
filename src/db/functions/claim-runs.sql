-- Takes a batch off one of the relay's queues (`wakes`, `starts`, `rescues`): each workflow type has an equal share of
-- it, and so has each owner within its type. `p_served` names per type the owner that was served last: the batch goes on
-- behind it. `p_taken` are rows that the pass has already. Each step from one type or owner to the next is one look into
-- the queue's index, past all rows between them; it is planned anew each time, so no plan for a small table is kept.
-- Sorts are disabled, so that only the queue's index gives the order: while the statistics know of no row in the queue, a
-- scan of another index with a sort costs the same, and reads the whole queue at each step.
create or replace function claim_runs(p_queue text, p_most int, p_served jsonb, p_taken text[],
  p_overdue_before timestamptz) returns setof workflow_runs
language plpgsql set enable_seqscan = off set enable_bitmapscan = off
  set enable_sort = off set enable_incremental_sort = off as $body$
declare
  -- A claim holds for longer than the longest call to Temporal. A claim that is not confirmed is made again.
  v_lease constant text := 'now() + interval ''10 seconds''';
  -- A run that is started or woken while it is overdue needs no rescue within the next minute.
  v_note_rescue constant text := 'rescued_at = case when due_at < $4 then now() else rescued_at end';
  v_waits text; -- The predicate of the queue's index.
  v_ready_at text; -- From when a row may be taken, as the index has it.
  v_ready_before text := 'now()';
  v_then text := '';
  v_take text;
begin
  if p_queue = 'wakes' then
    v_waits := '(wanted_wake or waking_until is not null)';
    v_ready_at := 'coalesce(waking_until, ''-infinity'')';
    v_take := 'wanted_wake = false, waking_until = ' || v_lease || ', ' || v_note_rescue;
  elsif p_queue = 'starts' then
    v_waits := 'is_open and started_epoch is null';
    v_ready_at := 'coalesce(retry_at, ''-infinity'')';
    v_then := ', due_at';
    v_take := 'retry_at = ' || v_lease || ', ' || v_note_rescue;
  elsif p_queue = 'rescues' then
    v_waits := 'is_open and rescued_at is not null and not wanted_wake';
    v_ready_at := 'rescued_at';
    v_ready_before := 'now() - interval ''60 seconds''';
    v_take := 'rescued_at = case when due_at < $4 then now() end'; -- Null when the deadline has moved.
  else
    raise exception 'no queue %', p_queue;
  end if;
  return query execute format($query$
    with recursive
      types as (
        (select workflow from workflow_runs where %1$s order by workflow limit 1)
        union all
        select next.workflow from types t cross join lateral (
          select workflow from workflow_runs where %1$s and workflow > t.workflow order by workflow limit 1) next
      ),
      shares as materialized (
        select workflow, coalesce($2 ->> workflow, '') as served, greatest(1, $1 / count(*) over ()) as most from types
      ),
      owners as (
        select s.workflow, s.served, s.most, o.owner_id, o.is_again, 1 as number
        from shares s cross join lateral (
          (select owner_id, false as is_again from workflow_runs
            where %1$s and workflow = s.workflow and owner_id > s.served order by owner_id limit 1)
          union all
          (select owner_id, true from workflow_runs
            where %1$s and workflow = s.workflow and owner_id <= s.served order by owner_id limit 1)
          order by is_again limit 1) o
        union all
        select o.workflow, o.served, o.most, next.owner_id, next.is_again, o.number + 1
        from owners o cross join lateral (
          (select owner_id, o.is_again from workflow_runs
            where %1$s and workflow = o.workflow and owner_id > o.owner_id
              and (not o.is_again or owner_id <= o.served) order by owner_id limit 1)
          union all
          (select owner_id, true from workflow_runs
            where %1$s and not o.is_again and workflow = o.workflow and owner_id <= o.served order by owner_id limit 1)
          order by 2 limit 1) next
        where o.number < o.most
      ),
      owner_shares as materialized (
        select workflow, owner_id, greatest(1, most / count(*) over (partition by workflow)) as most from owners
      ),
      picked as materialized (
        select p.id from owner_shares s cross join lateral (
          select id from workflow_runs
          where %1$s and workflow = s.workflow and owner_id = s.owner_id and id <> all($3)
          order by %2$s limit s.most for update skip locked) p
      )
    update workflow_runs set %3$s where id = any(array(select id from picked)) returning *
  $query$, v_waits || ' and ' || v_ready_at || ' < ' || v_ready_before, v_ready_at || v_then, v_take)
  using p_most, p_served, p_taken, p_overdue_before;
end $body$;
