/* The locks of a decision on an increment, in the common order: agent's spending, agent, card, policy, intent; the
   transaction and then the ledger accounts are the caller's. */
create or replace function lock_increment(p_transaction text) returns void language plpgsql as $$
declare
  v record;
begin
  select t.agent_id, t.card_id, t.intent_id into v from transactions t where t.id = p_transaction;
  perform lock_spending(v.agent_id);
  perform 1 from agents where id = v.agent_id for share;
  perform 1 from cards where id = v.card_id for share;
  perform 1 from policies where agent_id = v.agent_id and removed_at is null for share;
  perform 1 from intents where id = v.intent_id for no key update;
end $$;

/* What a decision on an increment looks at and one on an authorization does not: what was spent without the payment, in
   the day and month in which the payment counts; the first merchant, which may be the payment's own; and the payment
   token that it was made with. */
create or replace function increment_facts(p_transaction text, p_at timestamptz) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'counters', to_jsonb(d) || jsonb_build_object('first_merchant', n.first_merchant),
    'token', (
      select jsonb_build_object('ceiling_cents', k.ceiling_cents, 'host', k.host) from (
        select ceiling_cents, null::text as host from checkouts
          where intent_id = t.intent_id and transaction_id = t.id and status = 'paid'
        union all
        select ceiling_cents, host from mpp_credentials where transaction_id = t.id
      ) k limit 1))
  from transactions t
  cross join lateral spending_counters(t.agent_id, t.card_id, coalesce(t.authorized_at, p_at), true, t.id) d
  cross join lateral spending_counters(t.agent_id, t.card_id, p_at, true) n
  where t.id = p_transaction
$$;

/* Keeps the decision on an increment. The application may write a decision only so: with the locks of its payment
   taken, and for an increment that its transaction has kept. */
create or replace function keep_increment_decision(p jsonb) returns void language plpgsql
  security definer set search_path = public, pg_temp as $$
begin
  if not exists (select from network_messages m where m.adapter = p ->> 'adapter' and m.id = p ->> 'message_id'
      and m.kind = 'increment' and m.transaction_id = p ->> 'transaction_id' and m.answer ->> 'decision' = p ->> 'outcome') then
    raise exception 'the increment % of % was not kept with this outcome', p ->> 'message_id', p ->> 'transaction_id';
  end if;
  insert into decisions (transaction_id, message_kind, message_id, owner_id, agent_id, card_id, intent_id, outcome, rule,
      reason, policy_id, policy_version, facts, trace, at)
    select t.id, 'increment', d.message_id, t.owner_id, t.agent_id, t.card_id, t.intent_id, d.outcome, d.rule, d.reason,
      d.policy_id, d.policy_version, d.facts, d.trace, d.at
    from jsonb_populate_record(null::decisions, p) d join transactions t on t.id = d.transaction_id;
end $$;
