/**
 * What must hold after any load, asked of PostgreSQL with queries of our own and not of the product's code. Each check
 * is a query that must return no row.
 * @module
 */
import type { Installation } from '../support/installation.ts';
import { dailyLimitEuros, maxTransactionEuros, type Site } from './site.ts';

type Check = { readonly what: string; readonly sql: string; readonly params?: (site: Site) => unknown[] };

const checks: readonly Check[] = [
  {
    what: 'each journal sums to zero and has two lines or more',
    sql: `select j.id, sum(e.amount_cents) as off, count(e.line) as lines
          from journals j left join ledger_entries e on e.journal_id = j.id
          group by j.id having count(e.line) < 2 or sum(e.amount_cents) <> 0`,
  },
  {
    what: 'each account stands at the sum of its entries',
    sql: `select a.name, a.balance_cents, sum(e.amount_cents) from ledger_accounts a
          left join ledger_entries e on e.account = a.name group by a.name
          having a.balance_cents <> coalesce(sum(case when a.name like 'owner:%' then -e.amount_cents else e.amount_cents end), 0)
            or a.version <> count(e.line)`,
  },
  {
    what: 'entries of an account continue one another, in balance, version and time',
    sql: `select * from (
            select account, account_version, balance_before_cents, created_at,
              lag(balance_after_cents, 1, 0::bigint) over w as before, lag(account_version, 1, 0::bigint) over w as version,
              lag(created_at) over w as earlier
            from ledger_entries where account_version is not null window w as (partition by account order by account_version)) e
          where balance_before_cents <> before or account_version <> version + 1 or created_at < earlier`,
  },
  {
    what: 'held accounts equal the open holds',
    sql: `select coalesce(h.account, a.name) as account, h.held, a.balance_cents
          from (select funding_source || ':held' as account, sum(held_cents) as held from transactions where held_cents > 0 group by 1) h
          full join (select name, balance_cents from ledger_accounts where name like '%:held') a on a.name = h.account
          where coalesce(h.held, 0) <> coalesce(a.balance_cents, 0)`,
  },
  {
    what: 'a transaction was collected as often and as much as its clearings say',
    sql: `select t.id, t.cleared_cents, sum(e.amount_cents) from transactions t
          left join transaction_events e on e.transaction_id = t.id and e.kind = 'clearing'
          group by t.id having t.cleared_cents <> coalesce(sum(e.amount_cents), 0)`,
  },
  {
    what: 'what left to the card network is what the transactions were collected for',
    sql: `select coalesce(l.owner_id, t.owner_id) as owner_id, l.cents as ledger, t.cents as transactions
          from (select right(account, -length('external:cards:')) as owner_id, sum(amount_cents) as cents
                from ledger_entries where account like 'external:cards:%' group by 1) l
          full join (select owner_id, sum(cleared_cents) as cents from transactions where cleared_cents > 0 group by 1) t
            on t.owner_id = l.owner_id
          where coalesce(l.cents, 0) <> coalesce(t.cents, 0)`,
  },
  {
    what: 'each transaction has one journal per authorization, clearing and reversal at the most',
    sql: `select j.reference_id, j.kind, count(*) from journals j where j.kind = 'authorization'
          group by 1, 2 having count(*) > 1`,
  },
  {
    what: 'each network message was booked once',
    sql: `select transaction_id, kind, network_id, count(*) from transaction_events where network_id is not null
          group by 1, 2, 3 having count(*) > 1`,
  },
  {
    what: 'spending counters equal the transactions',
    sql: `select * from (
            select agent_id, coalesce(card_id, '') as card_id, (authorized_at at time zone 'UTC')::date as day,
              sum(spent_cents) as cents, count(*) as payments
            from transactions where spent_cents > 0 group by 1, 2, 3) t
          full join (select * from spending_days where spent_cents <> 0 or payments <> 0) d using (agent_id, card_id, day)
          where coalesce(t.cents, 0) <> coalesce(d.spent_cents, 0) or coalesce(t.payments, 0) <> coalesce(d.payments, 0)`,
  },
  {
    what: 'no agent spent more in a day than its limit, where the network collected no more than was held',
    sql: `select agent_id, (authorized_at at time zone 'UTC')::date as day, sum(spent_cents) from transactions
          where agent_id = any($1::text[]) and spent_cents > 0 group by 1, 2 having sum(spent_cents) > $2`,
    params: ({ agents }) => [
      agents.filter(({ isWithinHolds }) => isWithinHolds).map(({ agentId }) => agentId),
      dailyLimitEuros * 100,
    ],
  },
  {
    what: 'an intent paid for one payment at the most',
    sql: `select intent_id, count(*) from transactions where intent_id is not null and status in ('pending', 'completed')
          group by 1 having count(*) > 1`,
  },
  {
    what: 'a completed intent has its completed transaction',
    sql: `select i.id, t.status from intents i left join transactions t on t.id = i.transaction_id
          where i.status = 'completed' and t.status is distinct from 'completed'`,
  },
  {
    what: 'one declaration made one intent',
    sql: `select purpose, count(*) from intents where purpose like 'load %' group by 1 having count(*) > 1`,
  },
  {
    what: 'one key funded once',
    sql: `select k.owner_id, k.answered, f.made
          from (select owner_id, count(*) as answered from idempotency where path = '/fund' and status between 200 and 299 group by 1) k
          full join (select owner_id, count(*) as made from fundings where owner_id = any($1::text[]) group by 1) f using (owner_id)
          where coalesce(k.answered, 0) + 1 <> coalesce(f.made, 0)`, // The first funding of each owner had no key.
    params: ({ ownerIds }) => [ownerIds],
  },
  {
    what: 'no money came from nowhere: what was put in is what is there, what is owed and what left',
    sql: `select f.owner_id, f.cents, a.cents as there, x.cents as left_to_cards
          from (select owner_id, sum(amount_cents) as cents from fundings where status = 'completed' group by 1) f
          join (select owner_id, sum(case when name like 'owner:%' then -balance_cents else balance_cents end) as cents
                from ledger_accounts group by 1) a using (owner_id)
          left join (select owner_id, sum(cleared_cents) as cents from transactions group by 1) x using (owner_id)
          where f.cents <> a.cents + coalesce(x.cents, 0)`,
  },
  {
    what: 'each event has one delivery per subscription, and it was taken',
    sql: `select e.name, d.status, count(*) from events e
          join webhooks w on w.owner_id = e.owner_id
          left join webhook_deliveries d on d.event_id = e.id and d.webhook_id = w.id
          where e.owner_id = any($1::text[])
            and e.seq > (select seq from events c where c.name = 'webhook.created' and c.subject_id = w.id)
            and d.status is distinct from 'succeeded' group by 1, 2`,
    params: ({ ownerIds }) => [ownerIds],
  },
  {
    what: 'no event was delivered under two deliveries',
    sql: `select event_id, webhook_id, count(*) from webhook_deliveries group by 1, 2 having count(*) > 1`,
  },
  {
    what: 'each transaction was created once and completed once at the most, as its events tell',
    sql: `select subject_id, name, count(*) from events
          where name in ('transaction.created', 'transaction.completed', 'intent.created', 'intent.completed')
          group by 1, 2 having count(*) > 1`,
  },
  {
    what: 'each completed transaction and intent has its event',
    sql: `select t.id from transactions t where t.status = 'completed' and not t.is_verification
            and not exists (select from events e where e.subject_id = t.id and e.name = 'transaction.completed')
          union all
          select i.id from intents i where i.status = 'completed'
            and not exists (select from events e where e.subject_id = i.id and e.name = 'intent.completed')`,
  },
  {
    what: 'each open intent has its open process, and no final one has',
    sql: `select i.id, i.status, p.is_open from intents i left join workflow_runs p on p.id = 'intent/' || i.id
          where i.status <> 'denied' and coalesce(p.is_open, false) <> (i.status in ('pending_approval', 'approved'))`,
  },
  {
    what: 'each decision belongs to one authorization, and each authorization has one decision',
    sql: `select coalesce(d.transaction_id, e.transaction_id) as id, d.decisions, e.authorizations
          from (select transaction_id, count(*) as decisions from decisions where message_kind = 'authorization' group by 1) d
          full join (select transaction_id, count(*) as authorizations from transaction_events
                     where kind = 'authorization' group by 1) e using (transaction_id)
          where d.decisions is distinct from 1 or e.authorizations is distinct from 1`,
  },
  {
    what: 'nothing was approved beyond what was collected while agent or card was frozen, as the decision saw it',
    sql: `select transaction_id, outcome, rule, facts -> 'agent' as agent, facts -> 'card' as card from decisions
          where outcome <> 'declined' and 'frozen' in (facts #>> '{agent,status}', facts #>> '{card,status}')
            and rule <> 'cleared_before' and not (outcome = 'partial' and (facts ->> 'collectedBeforeCents')::bigint > 0)`,
  },
  {
    // A freeze and a hold lock the same row before they write their events.
    what: 'no hold was placed between a freeze and its unfreeze, in the order of the events',
    sql: `select h.subject_id, f.name from events h
          join journals j on j.reference_id = h.subject_id and j.kind = 'authorization'
          join transactions t on t.id = h.subject_id
          join decisions d on d.transaction_id = t.id and d.rule <> 'cleared_before'
          cross join lateral (
            select distinct on (subject_id) name from events
            where seq < h.seq and subject_id in (t.agent_id, t.card_id)
              and name in ('agent.frozen', 'agent.unfrozen', 'card.frozen', 'card.unfrozen')
            order by subject_id, seq desc) f
          where h.name = 'transaction.authorization' and f.name in ('agent.frozen', 'card.frozen')`,
  },
  {
    what: 'no authorization was approved above the transaction limit, unless all of it was collected before',
    sql: `select t.id, t.approved_cents, d.rule from transactions t join decisions d on d.transaction_id = t.id
          where t.approved_cents > $1 and d.rule <> 'cleared_before'
            and t.approved_cents > (d.facts ->> 'collectedBeforeCents')::bigint`,
    params: () => [maxTransactionEuros * 100],
  },
  {
    what: 'no more was approved for an intent than it lets through, unless it was collected before',
    sql: `select t.id, t.approved_cents, i.expected_amount_cents, p.amount_tolerance_percent from transactions t
          join intents i on i.id = t.intent_id join policies p on p.agent_id = t.agent_id and p.removed_at is null
          join decisions d on d.transaction_id = t.id
          where d.rule <> 'cleared_before' and t.approved_cents > (d.facts ->> 'collectedBeforeCents')::bigint
            and t.approved_cents > i.expected_amount_cents * (1 + coalesce(p.amount_tolerance_percent, 0) / 100.0)`,
  },
  {
    what: 'each clearing and reversal that moved money has its journal, with its cause and amount, and no other has one',
    sql: `select coalesce(e.cause, j.cause) as cause, e.cents as told, j.cents as booked
          from (select kind || ':' || adapter || ':' || network_id as cause, amount_cents as cents from transaction_events
                where kind in ('clearing', 'reversal') and amount_cents > 0) e
          full join (
            select j.cause, case j.kind when 'clearing' then
                (select sum(amount_cents) from ledger_entries l where l.journal_id = j.id and l.account like 'external:cards:%')
              else (select -sum(amount_cents) from ledger_entries l where l.journal_id = j.id and l.account like '%:held') end as cents
            from journals j where j.kind in ('clearing', 'reversal')) j on j.cause = e.cause
          where coalesce(e.cents, 0) <> coalesce(j.cents, 0)`,
  },
  {
    what: 'each hold is what was approved, less what was collected before it was asked for',
    sql: `select j.reference_id, l.amount_cents, t.approved_cents from journals j
          join ledger_entries l on l.journal_id = j.id and l.account like '%:held'
          join transactions t on t.id = j.reference_id
          where j.kind = 'authorization' and (l.amount_cents > t.approved_cents
            or j.cause <> 'authorization:' || t.adapter || ':' || t.authorization_id)`,
  },
  {
    what: 'after a final clearing nothing is held',
    sql: `select t.id, t.held_cents from transactions t where t.held_cents > 0 and exists (
            select from transaction_events e where e.transaction_id = t.id and e.kind = 'clearing' and e.is_final)`,
  },
  {
    what: 'what a transaction is left with is what was approved and collected, less what was given back',
    sql: `select id, held_cents, cleared_cents, reversed_cents, approved_cents from transactions
          where held_cents + reversed_cents > approved_cents or (status <> 'pending' and held_cents > 0)
            or (status = 'completed') <> (completed_at is not null)`,
  },
  {
    what: 'a subject tells of its life in order: created first, and nothing of a declined one but collections',
    sql: `select subject_id, name, place from (
            select subject_id, name, row_number() over (partition by subject_id order by seq) as place from events
            where subject_id like 'tx_%' or subject_id like 'int_%') e
          where (name in ('transaction.created', 'intent.created')) <> (place = 1)
          union all
          select c.subject_id, c.name, 0 from events c where c.name in ('transaction.completed', 'intent.completed')
            and not exists (select from events m where m.subject_id = c.subject_id and m.seq < c.seq
              and m.name in ('transaction.settlement', 'transaction.updated', 'intent.matched'))`,
  },
  {
    what: 'each change that is audited has one audit row, in the same request',
    sql: `select coalesce(e.subject_id, a.subject_id) as subject, coalesce(e.name, a.name) as name, e.told, a.audited
          from (select subject_id, name, request_id, count(*) as told from events
                where name in ('transaction.authorization', 'transaction.declined', 'transaction.settlement',
                  'transaction.completed', 'intent.created', 'intent.matched', 'intent.completed',
                  'intent.cancelled', 'agent.frozen', 'agent.unfrozen', 'card.frozen', 'card.unfrozen') group by 1, 2, 3) e
          full join (select subject_id, action as name, request_id, count(*) as audited from audit
                where action in ('transaction.authorization', 'transaction.declined', 'transaction.settlement',
                  'transaction.completed', 'intent.created', 'intent.matched', 'intent.completed',
                  'intent.cancelled', 'agent.frozen', 'agent.unfrozen', 'card.frozen', 'card.unfrozen')
                  and outcome = 'done' group by 1, 2, 3) a
            on a.subject_id = e.subject_id and a.name = e.name and a.request_id = e.request_id
          where coalesce(e.told, 0) <> coalesce(a.audited, 0)`,
  },
  {
    what: 'no cause moved two intents, and none completed one that another cause had completed',
    sql: `select noun, cause_id, to_status, count(*) from transitions
          where noun = 'intent' and to_status in ('completed', 'failed') group by 1, 2, 3 having count(*) > 1
          union all
          select noun, row_id, to_status, count(*) from transitions
          where noun in ('intent', 'checkout') and to_status = 'completed' group by 1, 2, 3 having count(*) > 1`,
  },
  { what: 'no wake waits', sql: 'select id from workflow_runs where wanted_wake or waking_until is not null' },
  {
    what: 'no network message waits for an authorization that has come',
    sql: `
      select m.adapter, m.id from network_messages m join transactions t
        on t.adapter = m.adapter and t.authorization_id = m.authorization_id where m.is_waiting`,
  },
];

/** The checks that found something, one line each. */
export async function failedChecks(site: Site): Promise<string[]> {
  const failed: string[] = [];
  for (const { what, sql, params } of checks) {
    const found = await site.installation.sql(sql, params?.(site) ?? []);
    if (found.length > 0) failed.push(`${what}: ${found.length} rows, e.g. ${JSON.stringify(found.slice(0, 3))}`);
  }
  return failed;
}

export const checkCount = checks.length;

/** Since the database was made. */
export async function deadlocks({ sql }: Installation): Promise<number> {
  const [row] = await sql<{ deadlocks: string }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  return Number(row?.deadlocks);
}
