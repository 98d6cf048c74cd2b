/* What the agent, and one of its cards, has spent in the UTC day and month of `p_at`, also on later days of the month:
   what is decided shortly after midnight may be written before what came shortly before it. `usage_count` and
   `last_payment_at` as the policy counts them: approved payments of the card (of the agent where none is named).
   A card's payments are also those of the cards that it took the place of. A transfer of the agent is spent like a payment
   without a card, and a split is one payment.
   `open_intents_cents`: approved intents that nothing pays for yet; a declaration counts them, a charge does not ask.
   A recurring one counts for its current or next unpaid window alone, in the day and month in which that can be charged.
   `first_merchant` has the host that a machine payment's credential was presented to: a challenge without a recipient
   names its merchant by nothing else.
   `p_except`: a transaction that is not counted, because it is the one that is decided on. */
create or replace function spending_counters(p_agent text, p_card text, p_at timestamptz, p_is_charge boolean default false,
  p_except text default null)
returns table (
  spent_today_cents bigint, spent_this_month_cents bigint, card_spent_today_cents bigint,
  card_spent_this_month_cents bigint, usage_count bigint, last_payment_at timestamptz, first_merchant jsonb,
  open_intents_cents bigint, open_intents_this_month_cents bigint
) language sql stable as $$
  with line as (
    select coalesce((select array_append(c.earlier_card_ids, c.id) from cards c where c.id = p_card), array[p_card]) as ids
  ), spent as (
    select d.card_id, d.day, d.spent_cents, d.payments from spending_days d where d.agent_id = p_agent
    union all
    select coalesce(t.card_id, ''), (t.authorized_at at time zone 'UTC')::date, -t.spent_cents, -1 from transactions t
    where t.id = p_except and t.agent_id = p_agent and t.spent_cents > 0
  )
  select s.today, s.month, s.card_today, s.card_month, u.payments, greatest(l.authorized_at, r.created_at), f.merchant, i.cents, i.month_cents
  from (
    select
      coalesce(sum(d.spent_cents) filter (where d.day = (p_at at time zone 'UTC')::date), 0)::bigint as today,
      coalesce(sum(d.spent_cents), 0)::bigint as month,
      coalesce(sum(d.spent_cents) filter (where d.card_id = any (line.ids) and d.day = (p_at at time zone 'UTC')::date), 0)::bigint
        as card_today,
      coalesce(sum(d.spent_cents) filter (where d.card_id = any (line.ids)), 0)::bigint as card_month
    from spent d cross join line
    where d.day >= date_trunc('month', p_at at time zone 'UTC')
      and d.day < date_trunc('month', p_at at time zone 'UTC') + interval '1 month'
  ) s
  cross join lateral (
    select coalesce(sum(d.payments), 0)::bigint as payments from spent d cross join line
    where p_card is null or d.card_id = any (line.ids)
  ) u
  left join lateral (
    select t.authorized_at from transactions t where t.agent_id = p_agent and t.spent_cents > 0 and t.id is distinct from p_except
    order by t.authorized_at desc limit 1
  ) l on true
  left join lateral (
    select x.created_at from transfers x where x.agent_id = p_agent
      and x.status not in ('failed', 'denied', 'cancelled') order by x.created_at desc limit 1
  ) r on true
  left join lateral (
    select jsonb_build_object('id', t.merchant_id, 'name', t.merchant, 'mcc', t.merchant_mcc,
        'domain', (select c.host from mpp_credentials c where c.transaction_id = t.id limit 1)) as merchant
    from (
      select x.id, x.merchant_id, x.merchant, x.merchant_mcc from transactions x
      where x.agent_id = p_agent and x.spent_cents > 0 and x.id is distinct from p_except
      order by x.authorized_at limit 1
    ) t
  ) f on true
  cross join lateral (
    select
      coalesce(sum(i.expected_amount_cents) filter (where i.recurring is null
        or i.window_from_at < (date_trunc('day', p_at at time zone 'UTC') + interval '1 day') at time zone 'UTC'), 0)::bigint
        as cents,
      coalesce(sum(i.expected_amount_cents), 0)::bigint as month_cents
    from intents i
    where not p_is_charge
      and (i.recurring is null
        or i.window_from_at < (date_trunc('month', p_at at time zone 'UTC') + interval '1 month') at time zone 'UTC')
      and i.agent_id = p_agent and i.status = 'approved' and i.matched_transaction_id is null
      and i.transfer_id is null
      -- One that an open machine payment keeps counts until the payment has ended.
      and (i.expires_at > p_at or i.open_payment_id is not null)
  ) i
$$;
