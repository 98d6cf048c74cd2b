-- Results of attempts that need no decision, and what all results of attempts share. A plan that reads a whole table is
-- never right here, and each of these would be chosen for tables that were almost empty when it was made.

-- Locks these claims, in one order and before their deliveries; the places of the arrays belong together. A result counts
-- only while its claim is here and has the number of its delivery.
create or replace function lock_claims(p_webhooks text[], p_claims bigint[])
returns table (webhook_id text, id bigint, seqs bigint[]) language sql volatile rows 10
  set enable_seqscan = off as $$
  select c.webhook_id, c.id, c.seqs
  from (select distinct r.webhook_id, r.claim from unnest(p_webhooks, p_claims) as r(webhook_id, claim) order by 1, 2) g
  cross join lateral (
    select c.webhook_id, c.id, c.seqs from delivery_claims c
    where c.webhook_id = g.webhook_id and c.id = g.claim limit 1 for update) c
$$;

-- Takes deliveries out of these claims: the number in `p_over` out of the claim at its position in `p_over_of`. Out of no
-- other one, because a result may be so late that a later claim has the delivery. A claim without any is deleted.
create or replace function leave_claims(p_webhooks text[], p_claims bigint[], p_over_of bigint[], p_over bigint[])
returns void language sql volatile set enable_seqscan = off as $$
  with over as materialized (select o.claim, o.seq from unnest(p_over_of, p_over) as o(claim, seq)),
  rest as materialized (
    select h.webhook_id, h.id,
      array(select s from unnest(h.seqs) as s where (h.id, s) not in (select o.claim, o.seq from over o)) as seqs
    from lock_claims(p_webhooks, p_claims) h),
  smaller as (
    update delivery_claims c set seqs = r.seqs from rest r
    where c.webhook_id = r.webhook_id and c.id = r.id and r.seqs <> '{}')
  delete from delivery_claims c using rest r where c.webhook_id = r.webhook_id and c.id = r.id and r.seqs = '{}'
$$;

-- Counts attempts by subscription and hour of their beginning; without milliseconds where no answer came. All results of a
-- subscription write one row, so this comes last in a transaction. In one order, so that no two of them wait for each other.
create or replace function count_attempts(p_webhooks text[], p_began timestamptz[], p_failed boolean[], p_answer_ms int[])
returns void language sql volatile set enable_seqscan = off as $$
  insert into webhook_hours as h (webhook_id, hour, attempts, failures, answered, answer_ms, slowest_ms)
  select a.webhook_id, date_trunc('hour', a.began, 'UTC') as hour, count(*), count(*) filter (where a.failed),
    count(a.answer_ms), coalesce(sum(a.answer_ms), 0), coalesce(max(a.answer_ms), 0)
  from unnest(p_webhooks, p_began, p_failed, p_answer_ms) as a(webhook_id, began, failed, answer_ms)
  group by 1, 2 order by 1, 2
  on conflict (webhook_id, hour) do update set attempts = h.attempts + excluded.attempts,
    failures = h.failures + excluded.failures, answered = h.answered + excluded.answered,
    answer_ms = h.answer_ms + excluded.answer_ms, slowest_ms = greatest(h.slowest_ms, excluded.slowest_ms)
$$;

-- Records successes at receivers that have not been failing, of deliveries without an order to keep. `p_claims` are the
-- claims that they are of, each once, with their receivers; the other arrays have a place for each success. Returns the
-- receivers that have been failing, whose successes are left out.
create or replace function record_successes(p_webhooks text[], p_claims bigint[], p_ids text[], p_claim_of bigint[],
  p_seqs bigint[], p_claim_counts int[], p_statuses int[], p_answer_ms int[], p_now timestamptz) returns text[]
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $body$
declare
  v_failing constant text[] := array(
    select h.webhook_id from webhook_health h where h.webhook_id = any(p_webhooks) and h.failures_in_row > 0);
  v_webhooks text[];
  v_began timestamptz[];
  v_answer_ms int[];
  v_over_of bigint[];
  v_over bigint[];
begin
  with held as materialized (select * from lock_claims(p_webhooks, p_claims)),
  counted as (
    update webhook_deliveries d set status = 'succeeded', lease_until = null, attempts_made = d.attempts_made + 1,
      claims = r.claim_count, next_attempt_at = null, is_parked = false, success_status = r.status,
      success_ms = r.answer_ms, delivered_at = p_now
    from unnest(p_ids, p_claim_of, p_seqs, p_claim_counts, p_statuses, p_answer_ms)
      as r(id, claim, seq, claim_count, status, answer_ms)
    join held h on h.id = r.claim and r.seq = any(h.seqs) and h.webhook_id <> all (v_failing)
    -- It is open, and has no result of this claim or a later one. Not by its status: see delivery.result.service.ts.
    where d.id = r.id and d.next_attempt_at is not null and d.claims = r.claim_count - 1
    returning h.webhook_id, p_now - r.answer_ms * interval '1 millisecond' as began, r.answer_ms)
  select array_agg(c.webhook_id), array_agg(c.began), array_agg(c.answer_ms) into v_webhooks, v_began, v_answer_ms
  from counted c;
  select array_agg(r.claim), array_agg(r.seq) into v_over_of, v_over
  from unnest(p_claim_of, p_seqs) as r(claim, seq)
  join unnest(p_webhooks, p_claims) as c(webhook_id, claim) on c.claim = r.claim
  where c.webhook_id <> all (v_failing);
  perform leave_claims(p_webhooks, p_claims, v_over_of, v_over);
  if v_webhooks is not null then
    perform count_attempts(v_webhooks, v_began, array_fill(false, array[cardinality(v_webhooks)]), v_answer_ms);
  end if;
  return v_failing;
end $body$;
