/**
 * What must hold after a ledger history, asked of PostgreSQL with queries of our own, of the API and of `bursar ledger
 * verify`: each order that was answered with success took effect once and as it was answered, each other one took none,
 * and events, audit rows, journals, seals and checkpoints say the same. Each check returns the differences.
 * @module
 */
import { runCommand } from '../../src/main/cli.ts';
import type { Installation } from '../support/installation.ts';
import { type Answer, callBy, untilAnswered } from '../support/plain-calls.ts';
import { eventually } from '../support/world.ts';
import { type History, isDone, type Sent } from './ledger-history.ts';
import { accountOf, type Movement } from './ledger-orders.ts';

/** A transfer or a top-up as it is stored, in the order of the lines where it is of a split. */
type Effect = {
  readonly id: string;
  readonly splitId: string | null;
  readonly mark: string | null;
  readonly agentId: string | null;
  readonly journalId: string;
  readonly amountCents: number;
  readonly source: string | null;
  readonly target: string;
};

const effectsSql = `
  select id, null as "splitId", null as mark, null as "agentId", journal_id as "journalId", amount_cents::int as "amountCents",
    'wallet:' || from_wallet_id || ':available' as source, 'wallet:' || wallet_id || ':available' as target, 0 as line
  from fundings where owner_id = $1 and status = 'completed'
  union all
  select id, split_id, coalesce(metadata ->> 'mark', regexp_replace(reference, ' line \\d+$', '')), agent_id, journal_id,
    amount_cents::int, coalesce('wallet:' || from_wallet_id, 'agent:' || agent_id) || ':available',
    'wallet:' || to_wallet_id || ':available', split_line
  from transfers where owner_id = $1
  order by "splitId", line, id`;

type Figures = { readonly effects: number; readonly refused: number; readonly lost: number; readonly repeated: number };

export async function differencesOf(history: History): Promise<{ figures: Figures; differences: string[] }> {
  const { site, book, sent, faults } = history;
  const repeated = await repeatsAgree(history);
  const stored = await site.sql<Effect>(effectsSql, [book.ownerId]);
  const { effects, differences } = effectsOf(sent, stored);
  const answers = sent.flatMap((one) => one.answers);
  return {
    figures: {
      effects: effects.length,
      refused: sent.filter((one) => one.answers.some(({ status }) => status === 400)).length,
      lost: answers.filter(({ status }) => status === 0).length,
      repeated: sent.filter((one) => one.answers.length > 1).length,
    },
    differences: [
      ...faults,
      ...repeated,
      ...differences,
      ...balancesAgree(await balancesOf(history), effects, stored),
      ...(await rowsAgree(history)),
      ...(await isVerified(history)),
    ],
  };
}

/** Of each order what it made; what no order accounts for is a difference, except what opened the book. */
function effectsOf(sent: readonly Sent[], stored: readonly Effect[]) {
  const differences: string[] = [];
  const effects: Effect[] = [];
  const left = new Set(stored);
  for (const { order, answers } of sent) {
    const what = `${order.kind} ${order.mark}`;
    const isTopUp = order.kind.endsWith('top-up');
    const mine = stored.filter((one) => (isTopUp ? isMade(one, order.amountCents) : one.mark === order.mark));
    for (const one of mine) left.delete(one);
    effects.push(...mine);
    const done = answers.filter(isDone);
    const texts = new Set(done.map(({ body }) => JSON.stringify(body)));
    if (texts.size > 1) differences.push(`${what}: answered in different ways: ${[...texts].join(' and ')}`);
    const [answer] = done;
    const mayBe = order.key === undefined && answers.some(({ status }) => status === 0 || status === 503);
    if (answer === undefined && mine.length > 0 && !mayBe) {
      differences.push(`${what}: refused, and made ${JSON.stringify(mine)}`);
    }
    if (answer === undefined && mine.length === 0) continue;
    const found = mine.map(({ source, target, amountCents, agentId }) => ({ source, target, amountCents, agentId }));
    const wanted = order.movements.map(({ from, to, amountCents }) => ({
      ...{ source: from ?? null, target: to, amountCents },
      agentId: order.mover.agentId ?? null,
    }));
    if (JSON.stringify(found) !== JSON.stringify(wanted)) {
      differences.push(`${what}: asked ${JSON.stringify(wanted)}, made ${JSON.stringify(found)}`);
    }
    if (answer !== undefined) differences.push(...answerAgrees(what, answer, mine));
  }
  const unknown = [...left].filter(({ mark, amountCents }) => mark !== null || amountCents < openingCents);
  for (const one of unknown) differences.push(`no order made ${JSON.stringify(one)}`);
  return { effects, differences };
}

/** The top-up that opens the book is larger than all orders. */
const openingCents = 10_000;

/** A top-up stores no mark, and its amount is of one order only. */
const isMade = ({ mark, splitId, amountCents }: Effect, asked: number): boolean =>
  mark === null && splitId === null && amountCents === asked;

function answerAgrees(what: string, { body }: Answer, mine: readonly Effect[]): string[] {
  const said: { id: string; amountEuros: number }[] = body.transfers ?? [
    { id: body.fundingId ?? body.id, amountEuros: body.amountEuros },
  ];
  const wanted = mine.map(({ id, amountCents }) => ({ id, cents: amountCents }));
  const found = said.map(({ id, amountEuros }) => ({ id, cents: Math.round(amountEuros * 100) }));
  const isSplitNamed = body.transfers === undefined || mine.every(({ splitId }) => splitId === body.id);
  if (JSON.stringify(found) === JSON.stringify(wanted) && isSplitNamed) return [];
  return [`${what}: answered ${JSON.stringify(body)}, made ${JSON.stringify(mine)}`];
}

type Balances = Readonly<Record<string, number>>;

async function balancesOf({ site, book }: History): Promise<Balances> {
  const rows = await site.sql<{ name: string; cents: number }>(
    `select name, balance_cents::int as cents from ledger_accounts where owner_id = $1`,
    [book.ownerId],
  );
  return Object.fromEntries(rows.map(({ name, cents }) => [name, cents]));
}

/** Balances against the movements of all effects; those before the history remain. */
function balancesAgree(found: Balances, effects: readonly Effect[], stored: readonly Effect[]): string[] {
  const counted: Record<string, number> = {};
  const move = ({ from, to, amountCents }: Movement) => {
    if (from !== undefined) counted[from] = (counted[from] ?? 0) - amountCents;
    counted[to] = (counted[to] ?? 0) + amountCents;
  };
  for (const { source, target, amountCents } of effects) move({ from: source ?? undefined, to: target, amountCents });
  const isOpening = (one: Effect) => !effects.includes(one);
  for (const { target, amountCents } of stored.filter(isOpening)) move({ from: undefined, to: target, amountCents });
  const budget = Object.keys(found).filter((name) => name.startsWith('agent:'));
  const [opened] = stored.filter(isOpening);
  for (const to of budget) move({ from: opened?.target, to, amountCents: (opened?.amountCents ?? 0) / 10 });
  const names = new Set([...Object.keys(found), ...Object.keys(counted)]);
  return [...names].flatMap((name) =>
    (found[name] ?? 0) === (counted[name] ?? 0) || name.startsWith('owner:')
      ? []
      : [`${name} stands at ${found[name]} cents, and its orders make ${counted[name]}`],
  );
}

type Check = { readonly what: string; readonly sql: string };

/** Of one owner ($1); a row is a difference. */
const checks: readonly Check[] = [
  {
    what: 'each top-up and transfer has one journal of two lines, and each such journal has one of them',
    sql: `select d.id, j.id as journal, j.lines, j.cents, d.amount_cents from (
            select id, journal_id, amount_cents from fundings where owner_id = $1
            union all select id, journal_id, amount_cents from transfers where owner_id = $1) d
          full join (
            select j.id, j.reference_id, count(*) as lines, sum(e.amount_cents) as off,
              sum(greatest(e.amount_cents, 0)) as cents
            from journals j join ledger_entries e on e.journal_id = j.id
            where j.owner_id = $1 and j.reference_type in ('fund', 'transfer') and j.kind <> 'agent_fund' group by j.id) j
          on j.id = d.journal_id and j.reference_id = d.id
          where d.id is null or j.id is null or j.lines <> 2 or j.off <> 0 or j.cents <> d.amount_cents`,
  },
  {
    what: 'entries of an account continue one another, and the account stands at the last',
    sql: `select * from (
            select e.account, e.account_version, e.balance_before_cents, e.balance_after_cents, a.balance_cents, a.version,
              lag(e.balance_after_cents, 1, 0::bigint) over w as before, lag(e.account_version, 1, 0::bigint) over w as earlier,
              lead(e.account_version) over w as later
            from ledger_entries e join ledger_accounts a on a.name = e.account
            where a.owner_id = $1 and e.account_version is not null
            window w as (partition by e.account order by e.account_version)) e
          where balance_before_cents <> before or account_version <> earlier + 1
            or later is null and (balance_after_cents <> balance_cents or account_version <> version)`,
  },
  {
    what: 'each top-up has one event and one audit row',
    sql: `select f.id, e.count as events, a.count as audits from fundings f
          left join (select data ->> 'fundingId' as id, count(*) from events
            where owner_id = $1 and name = 'wallet.funded' group by 1) e using (id)
          left join (select details ->> 'fundingId' as id, count(*) from audit
            where owner_id = $1 and action = 'wallet.funded' group by 1) a using (id)
          where f.owner_id = $1 and (e.count is distinct from 1 or a.count is distinct from 1)`,
  },
  {
    what: 'each transfer and split has one event, each transfer one of the wallet, and both have one audit row',
    sql: `select t.id, e.count as events, c.count as credited, a.count as audits from (
            select id, false as is_split from transfers where owner_id = $1
            union all select id, true from transfer_splits where owner_id = $1) t
          left join (select subject_id as id, count(*) from events
            where owner_id = $1 and name in ('transfer.completed', 'transfer.split.completed') group by 1) e using (id)
          left join (select data ->> 'transferId' as id, count(*) from events
            where owner_id = $1 and name = 'wallet.credited' and data ->> 'transferId' is not null group by 1) c using (id)
          left join (select subject_id as id, count(*) from audit
            where owner_id = $1 and action in ('transfer.completed', 'transfer.split.completed') group by 1) a using (id)
          where e.count is distinct from 1 or a.count is distinct from 1
            or c.count is distinct from case when is_split then null else 1 end`,
  },
  {
    what: 'no event and no audit row is of something that does not exist',
    sql: `select name, subject_id from events e where owner_id = $1
            and (name like 'transfer.%' and not exists (select from transfers where id = e.subject_id)
                and not exists (select from transfer_splits where id = e.subject_id)
              or name = 'wallet.funded' and not exists (select from fundings where id = e.data ->> 'fundingId'))
          union all
          select action, subject_id from audit a where owner_id = $1
            and (action like 'transfer.%' and not exists (select from transfers where id = a.subject_id)
                and not exists (select from transfer_splits where id = a.subject_id)
              or action = 'wallet.funded' and not exists (select from fundings where id = a.details ->> 'fundingId'))`,
  },
  {
    what: 'what agents spent is what they transferred',
    sql: `select agent_id, t.cents, d.spent_cents from (
            select agent_id, sum(amount_cents) as cents, count(*) filter (where coalesce(split_line, 0) = 0) as payments
            from transfers where owner_id = $1 and agent_id is not null group by 1) t
          full join (select agent_id, sum(spent_cents) as spent_cents, sum(payments) as payments from spending_days
            where agent_id in (select id from agents where owner_id = $1) group by 1) d using (agent_id)
          where coalesce(t.cents, 0) <> coalesce(d.spent_cents, 0) or coalesce(t.payments, 0) <> coalesce(d.payments, 0)`,
  },
  {
    what: 'the count of the top-ups of the day is right',
    sql: `select d.fundings, c.count from funding_days d,
            (select count(*) from fundings where owner_id = $1
              and (created_at at time zone 'UTC')::date = (select day from funding_days where owner_id = $1)) c
          where d.owner_id = $1 and d.fundings <> c.count`,
  },
  {
    what: 'no reservation of a key is under way',
    sql: `select key, path from idempotency where owner_id = $1 and status is null and lease_until > now()`,
  },
];

async function rowsAgree({ site, book }: History): Promise<string[]> {
  const found: string[] = [];
  for (const { what, sql } of checks) {
    const rows = await site.sql(sql, [book.ownerId]);
    if (rows.length > 0) found.push(`${what}: ${rows.length} rows, e.g. ${JSON.stringify(rows.slice(0, 3))}`);
  }
  return found;
}

const repeatedAtOnce = 20;

/** Every answer that was given is given again under its key, and nothing happens. */
async function repeatsAgree({ site, sent }: History): Promise<string[]> {
  const open = sent.filter(({ order, answers }) => order.key !== undefined && answers.some(isDone));
  const found: string[] = [];
  const repeat = async (): Promise<void> => {
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      const { order, answers } = one;
      const call = callBy(site.as(order.mover.token).send);
      const again = await untilAnswered(() => call('POST', order.path, order.body, order.key));
      const first = answers.find(isDone);
      if (JSON.stringify(again.body) !== JSON.stringify(first?.body) || again.status !== first?.status) {
        found.push(`${order.kind} ${order.mark}: repeated, ${JSON.stringify(again)} and not ${JSON.stringify(first)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: repeatedAtOnce }, repeat));
  return found;
}

async function isVerified({ site, book }: History): Promise<string[]> {
  const call = callBy(site.as(book.owner.token).send);
  const { body } = await eventually(
    () => call('GET', '/ledger/verify?full=true'),
    ({ status, body: said }) => status === 200 && said.unsealed === 0,
  );
  const wallets = (await untilAnswered(() => call('GET', '/wallets?limit=100'))).body.data;
  const shown = Object.fromEntries(
    wallets.map(({ id, balanceEuros }: { id: string; balanceEuros: number }) => [id, Math.round(balanceEuros * 100)]),
  );
  const stored = await balancesOf({ site, book } as History);
  const wrong = book.wallets.filter((id) => shown[id] !== (stored[accountOf(id)] ?? 0));
  return [
    ...(body.balanced === true && body.differences.length === 0 ? [] : [`ledger verify: ${JSON.stringify(body)}`]),
    ...wrong.map((id) => `GET /wallets shows ${shown[id]} of ${id}, and its account has ${stored[accountOf(id)]}`),
  ];
}

/** All books with their checkpoints and reconciliation, once a new worker has signed the head of each. */
export async function booksAgree(site: Installation): Promise<string[]> {
  await site.kill('worker');
  await eventually(
    () => site.sql('select owner_id from ledger_heads where checkpointed_sequence < sequence'),
    (behind) => behind.length === 0,
  );
  let said = '';
  const env = { BURSAR_DATA_DIR: site.dir, DATABASE_URL: site.ready.databaseUrl };
  const code = await runCommand(['ledger', 'verify'], env, (text) => {
    said += text;
  });
  return code === 0 ? [] : [`bursar ledger verify ends with ${code}: ${said}`];
}
