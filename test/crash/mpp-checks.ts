/**
 * What must hold after any history of machine payments, asked of PostgreSQL, of the sandbox's own records and of the
 * owner's API, with queries of our own. Each check returns the differences.
 * @module
 */
import { join } from 'node:path';
// biome-ignore lint/correctness/noUnresolvedImports: part of Node since 22.5, which the linter does not list yet.
import { DatabaseSync } from 'node:sqlite';
import * as z from 'zod';
import { type History, tolerancePercent } from './mpp-history.ts';

type Check = { readonly what: string; readonly sql: string };

/** Money that moved or will move; what was taken back or failed is none. */
const charged = `t.status in ('pending', 'completed') and t.type <> 'refund'`;

const checks: readonly Check[] = [
  {
    what: 'an intent is paid once',
    sql: `select t.intent_id, count(*)::int as charges, array_agg(t.id) as transactions from transactions t
          where ${charged} and t.intent_id is not null group by 1 having count(*) > 1`,
  },
  {
    what: 'no intent is charged more than its amount and the tolerance',
    sql: `select i.id, i.expected_amount_cents, sum(greatest(t.amount_cents, t.approved_cents, t.cleared_cents)) as charged
          from intents i join transactions t on t.intent_id = i.id where ${charged} group by i.id
          having sum(greatest(t.amount_cents, t.approved_cents, t.cleared_cents))
            > i.expected_amount_cents + i.expected_amount_cents * ${tolerancePercent} / 100`,
  },
  {
    what: 'a charge by a machine payment belongs to an intent, and its credential names it',
    sql: `select t.id, t.status, t.intent_id from transactions t where t.rail = 'mpp' and ${charged}
            and (t.intent_id is null or (not exists (select from mpp_credentials c
              where c.transaction_id = t.id and c.status = 'consumed' and c.intent_id = t.intent_id)
              -- Settled by an operator.
              and not exists (select from mpp_payments p where p.transaction_id = t.id
                and p.charge_source = 'operator' and p.intent_id = t.intent_id)))`,
  },
  {
    what: 'a payment whose credential was charged is paid and names the charge',
    sql: `select p.id, p.status, p.transaction_id, c.transaction_id as charged from mpp_payments p
          join mpp_credentials c on c.id = p.credential_id
          where c.status = 'consumed' and (p.status <> 'paid' or p.transaction_id is null)`,
  },
  {
    what: 'a paid payment has a transaction of its intent',
    sql: `select p.id from mpp_payments p left join transactions t on t.id = p.transaction_id
          where p.status = 'paid' and t.intent_id is distinct from p.intent_id`,
  },
  {
    what: 'a payment is never minted for while another one of its intent is open',
    // Open from `presenting` to the first final state. A payment's own time is that of its request, which may have waited
    // for the end of the other one; its steps are later than the end that it waited for.
    sql: `with spans as (
            select p.id, p.intent_id,
              (select min(x.at) from transitions x where x.noun = 'mpp_payment' and x.row_id = p.id
                and x.to_status = 'minted') as minted_at,
              (select min(x.at) from transitions x where x.noun = 'mpp_payment' and x.row_id = p.id
                and x.to_status = 'presenting') as from_at,
              (select min(x.at) from transitions x where x.noun = 'mpp_payment' and x.row_id = p.id
                and x.to_status in ('paid', 'declined', 'refused', 'not_paid')) as to_at
            from mpp_payments p)
          select s.id, p.id as other from spans s join spans p on p.intent_id = s.intent_id and p.id <> s.id
          where s.from_at is not null and p.minted_at > s.from_at and (s.to_at is null or p.minted_at < s.to_at)`,
  },
  {
    what: 'two credentials of an intent are never alive at once',
    sql: `select a.id, b.id as other from mpp_credentials a join mpp_credentials b on a.intent_id = b.intent_id and a.id < b.id
          where a.status in ('requested', 'minted') and b.status in ('requested', 'minted')`,
  },
  {
    what: 'a transition happened once for each cause, and each status follows from the one before',
    sql: `select row_id, array_agg(to_status order by at) from transitions
          where noun = 'mpp_payment' group by row_id
          having count(*) filter (where to_status = 'presenting') > 1 or count(*) filter (where to_status = 'paid') > 1
            or count(*) filter (where to_status = 'minted') > 1`,
  },
  {
    what: 'a payment that was refused before it was sent was not charged',
    sql: `select id from mpp_payments where sent_at is null and charge_source is not null`,
  },
  {
    what: 'each journal sums to zero',
    sql: `select j.id from journals j left join ledger_entries e on e.journal_id = j.id
          group by j.id having count(e.line) < 2 or sum(e.amount_cents) <> 0`,
  },
];

export async function differencesOf(history: History): Promise<string[]> {
  const found: string[] = [];
  for (const { what, sql } of checks) {
    const rows = await history.site.sql(sql);
    if (rows.length > 0) found.push(`${what}: ${rows.length}, e.g. ${JSON.stringify(rows.slice(0, 3))}`);
  }
  for (const [id, times] of history.merchant.presentations)
    if (times > 1) found.push(`challenge ${id} was answered ${times} times`);
  return [...found, ...(await unseenCharges(history)), ...(await differencesOfTheBook(history))];
}

const authorization = z.object({ id: z.string(), transaction_id: z.string().nullable(), cents: z.number() });
const page = z.object({ data: z.array(z.object({ id: z.string() })), nextCursor: z.string().nullable() });

/** What the network says that it charged, against what the owner is shown. */
async function unseenCharges({ site, owner }: History): Promise<string[]> {
  const sandbox = new DatabaseSync(join(site.dir, 'sandbox.sqlite'), { readOnly: true });
  const approved = z
    .array(authorization)
    .parse(
      sandbox
        .prepare(`select id, transaction_id, cleared_cents as cents from authorizations where state = 'approved'`)
        .all(),
    );
  sandbox.close();
  const shown = new Set<string>();
  let cursor: string | null = '';
  while (cursor !== null) {
    const path: string = `/transactions?limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
    const { data, nextCursor } = page.parse(await (await owner.send({ method: 'GET', path, headers: {} })).json());
    for (const { id } of data) shown.add(id);
    cursor = nextCursor;
  }
  return approved
    .filter(({ transaction_id }) => transaction_id === null || !shown.has(transaction_id))
    .map(({ id, cents }) => `the network charged ${cents} cents by ${id}, and the owner does not see it`);
}

async function differencesOfTheBook({ owner }: History): Promise<string[]> {
  const answer = await owner.send({ method: 'GET', path: '/ledger/verify?full=true', headers: {} });
  const { balanced, differences } = z
    .object({ balanced: z.boolean(), differences: z.array(z.unknown()) })
    .parse(await answer.json());
  return balanced && differences.length === 0 ? [] : [`the book: ${JSON.stringify(differences).slice(0, 500)}`];
}

/** For the report of a run. */
export async function figuresOf({ site, merchant }: History): Promise<Record<string, unknown>> {
  const counts = async (sql: string) =>
    Object.fromEntries((await site.sql<{ name: string; many: number }>(sql)).map(({ name, many }) => [name, many]));
  return {
    intents: await counts('select status as name, count(*)::int as many from intents group by 1'),
    payments: await counts('select status as name, count(*)::int as many from mpp_payments group by 1'),
    credentials: await counts('select status as name, count(*)::int as many from mpp_credentials group by 1'),
    transactions: await counts(
      `select rail || ' ' || status as name, count(*)::int as many from transactions group by 1`,
    ),
    refusedBy: await counts(
      `select outcome_code as name, count(*)::int as many from mpp_payments where status in ('refused', 'declined')
         and outcome_code is not null group by 1`,
    ),
    settledBy: await counts(
      `select charge_source || ' ' || charge_outcome as name, count(*)::int as many from mpp_payments
       where charge_source is not null group by 1`,
    ),
    presented: merchant.presentations.size,
  };
}
