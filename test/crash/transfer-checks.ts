/**
 * What must hold after any history of transfers to bank accounts, asked of PostgreSQL, of the bank's own book and of the
 * owner's API, with queries of our own. Each check returns the differences.
 * @module
 */
import * as z from 'zod';
import { transferIdOf } from '../../src/domains/treasury/sepa/end-to-end-id.rules.ts';
import { type History, sandboxRows } from './transfer-history.ts';

type Check = { readonly what: string; readonly sql: string };

const held = `t.stage in ('requested', 'pending_approval', 'approved', 'sending', 'submitted', 'accepted')`;
const released = `t.stage in ('denied', 'expired', 'cancelled', 'rejected')`;
const back = `t.stage in ('returned', 'recalled')`;

const times = (name: string): string =>
  `(select count(*) from events e where e.subject_id = t.id and e.name = '${name}')`;
const audits = (name: string): string =>
  `(select count(*) from audit a where a.subject_id = t.id and a.action = '${name}')`;

const checks: readonly Check[] = [
  {
    what: 'an order makes one transfer',
    sql: `select metadata ->> 'order' as made, array_agg(id) as ids from transfers where metadata ? 'order'
          group by 1 having count(*) > 1`,
  },
  {
    what: 'what is held is what open transfers hold',
    sql: `select * from
            (select coalesce('wallet:' || from_wallet_id, 'agent:' || agent_id) || ':held' as name,
               sum(amount_cents) filter (where ${held}) as cents from transfers t where type = 'sepa' group by 1) t
            full join (select name, balance_cents from ledger_accounts where name like '%:held') l using (name)
          where coalesce(t.cents, 0) <> coalesce(l.balance_cents, 0)`,
  },
  {
    what: 'each stage follows from the one before, and is entered once',
    sql: `select m.row_id, m.from_status, m.to_status from transitions m
          where m.noun = 'transfer' and (
            (coalesce(m.from_status, ''), m.to_status) not in (
              ('', 'requested'),
              ('requested', 'approved'), ('requested', 'pending_approval'), ('requested', 'rejected'),
              ('requested', 'cancelled'),
              ('pending_approval', 'approved'), ('pending_approval', 'denied'), ('pending_approval', 'expired'),
              ('pending_approval', 'cancelled'),
              ('approved', 'sending'), ('approved', 'rejected'), ('approved', 'cancelled'),
              ('sending', 'submitted'), ('sending', 'accepted'), ('sending', 'settled'), ('sending', 'rejected'),
              ('sending', 'returned'), ('sending', 'recalled'),
              ('submitted', 'accepted'), ('submitted', 'settled'), ('submitted', 'rejected'), ('submitted', 'returned'),
              ('submitted', 'recalled'),
              ('accepted', 'settled'), ('accepted', 'rejected'), ('accepted', 'returned'), ('accepted', 'recalled'),
              ('settled', 'returned'), ('settled', 'recalled'))
            or (m.from_status is not null and not exists (select from transitions b
              where b.noun = m.noun and b.row_id = m.row_id and b.to_status = m.from_status)))
          union all
          select row_id, null, to_status from transitions where noun = 'transfer' group by 1, 3 having count(*) > 1
          union all
          select t.id, null, t.stage from transfers t where t.type = 'sepa' and t.stage is distinct from
            (select string_agg(m.to_status, ' ') from transitions m where m.noun = 'transfer' and m.row_id = t.id
               and not exists (select from transitions n
                 where n.noun = m.noun and n.row_id = m.row_id and n.from_status = m.to_status))`,
  },
  {
    what: 'each change is reported once, to subscribers and to the audit',
    sql: `select t.id, t.stage from transfers t where t.type = 'sepa' and (
            ${times('transfer.created')} <> 1 or ${audits('transfer.created')} <> 1
            or ${times('transfer.completed')} <> (t.completed_at is not null)::int
            or ${audits('transfer.completed')} <> (t.completed_at is not null)::int
            or ${times('transfer.failed')} <> (${released} or ${back})::int
            or ${audits('transfer.failed')} <> (${released} or ${back})::int
            or ${times('transfer.reminded')} <> t.reminders
            or (select count(*) from events e where e.name = 'wallet.credited' and e.data ->> 'transferId' = t.id)
              <> (${back})::int)`,
  },
  {
    what: 'a transfer has one run, which is open as long as it can change',
    sql: `select t.id, t.stage, r.is_open from transfers t left join workflow_runs r on r.id = 'transfer/' || t.id
          where t.type = 'sepa' and r.is_open is distinct from (t.closed_at is null and not (${released} or ${back}))`,
  },
  {
    what: "an agent's sums have what it sent or may still send",
    sql: `select * from
            (select agent_id, sum(amount_cents) filter (where not (${released})) as cents
             from transfers t where agent_id is not null group by 1) t
            full join (select agent_id, sum(spent_cents) as spent from spending_days group by 1) d using (agent_id)
          where coalesce(t.cents, 0) <> coalesce(d.spent, 0)`,
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
  return [...found, ...(await differencesToTheBank(history)), ...(await differencesOfTheBook(history))];
}

type AtBank = { readonly id: string; readonly state: string; readonly submissions: number; readonly cents: number };

const stageOf: Readonly<Record<string, readonly string[]>> = {
  submitted: ['submitted'],
  accepted: ['accepted'],
  settled: ['settled'],
  rejected: ['rejected'],
  returned: ['returned'],
  recalled: ['recalled'],
};

/** The bank has each payment once, in our stage; and what it booked on the account is what we booked. */
async function differencesToTheBank({ site, owner, iban }: History): Promise<string[]> {
  const atBank = sandboxRows<AtBank>(
    site,
    'select end_to_end_id as id, state, submissions, amount_cents as cents from bank_payments',
  );
  const ours = await site.sql<{ id: string; stage: string; silent: boolean; cents: number }>(
    `select id, stage, remittance like 'SILENT%' as silent, amount_cents::int as cents from transfers where type = 'sepa'`,
  );
  const known = new Map(atBank.map((payment) => [transferIdOf(payment.id) as string, payment]));
  const neverSent = ['requested', 'pending_approval', 'approved', 'denied', 'expired', 'cancelled', 'rejected'];
  const wrong = ours.flatMap(({ id, stage, silent, cents }) => {
    const payment = known.get(id);
    if (payment === undefined) return neverSent.includes(stage) ? [] : [`${id} is ${stage}, and not at the bank`];
    const isSame = silent ? stage === 'sending' : stageOf[payment.state]?.includes(stage);
    return [
      ...(payment.submissions === 1 ? [] : [`${id} was submitted ${payment.submissions} times`]),
      ...(isSame && payment.cents === cents
        ? []
        : [`${id} is ${stage} of ${cents}; at the bank ${payment.state} of ${payment.cents}`]),
    ];
  });
  const strangers = atBank.length - ours.filter(({ id }) => known.has(id)).length;
  const [booked] = sandboxRows<{ cents: number }>(
    site,
    `select coalesce(sum(case direction when 'credit' then amount_cents else -amount_cents end), 0) as cents
     from bank_entries where account_iban = '${iban}'`,
  );
  const [book] = await site.sql<{ cents: number }>(
    `select coalesce(-sum(amount_cents), 0)::int as cents from ledger_entries where account = $1`,
    [`external:sepa:${owner.ownerId}`],
  );
  return [
    ...wrong,
    ...(strangers === 0 ? [] : [`${strangers} payments at the bank are none of ours`]),
    ...(book?.cents === booked?.cents ? [] : [`the bank booked ${booked?.cents} cents, we ${book?.cents}`]),
  ];
}

async function differencesOfTheBook({ owner }: History): Promise<string[]> {
  const answer = await owner.send({ method: 'GET', path: '/ledger/verify?full=true', headers: {} });
  const { balanced, differences } = z
    .object({ balanced: z.boolean(), differences: z.array(z.unknown()) })
    .parse(await answer.json());
  return balanced && differences.length === 0 ? [] : [`the book: ${JSON.stringify(differences).slice(0, 500)}`];
}

/** For the report of a run. */
export async function figuresOf({ site }: History): Promise<Record<string, unknown>> {
  const counts = async (sql: string) =>
    Object.fromEntries((await site.sql<{ name: string; many: number }>(sql)).map(({ name, many }) => [name, many]));
  return {
    transfers: await counts(
      `select stage as name, count(*)::int as many from transfers where type = 'sepa' group by 1 order by 1`,
    ),
    reasons: await counts(
      `select failure_reason as name, count(*)::int as many from transfers where failure_reason is not null group by 1`,
    ),
    reminders: await counts(`select 'sent' as name, coalesce(sum(reminders), 0)::int as many from transfers`),
    entries: await counts('select status as name, count(*)::int as many from bank_entries group by 1'),
    submissions: sandboxRows<object>(
      site,
      'select count(*) as payments, sum(submissions) as times from bank_payments',
    )[0],
  };
}
