/**
 * What must hold after any load, asked of PostgreSQL with queries of our own and not of the product's code. Each check
 * is a query that must return no row.
 * @module
 */
import type { Installation } from '../support/installation.ts';
import { dailyLimitEuros, type Site } from './site.ts';

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
          from (select purse || ':held' as account, sum(held_cents) as held from transactions where held_cents > 0 group by 1) h
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
    what: 'each completed transaction and intent told so',
    sql: `select t.id from transactions t where t.status = 'completed' and not t.is_verification
            and not exists (select from events e where e.subject_id = t.id and e.name = 'transaction.completed')
          union all
          select i.id from intents i where i.status = 'completed'
            and not exists (select from events e where e.subject_id = i.id and e.name = 'intent.completed')`,
  },
  {
    what: 'each open intent has its open process, and no final one has',
    sql: `select i.id, i.status, p.is_open from intents i left join processes p on p.id = 'intent/' || i.id
          where i.status <> 'denied' and coalesce(p.is_open, false) <> (i.status in ('pending_approval', 'approved'))`,
  },
  { what: 'no wake waits', sql: 'select id from processes where wanted_wake or waking_until is not null' },
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
