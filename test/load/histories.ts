/**
 * `npm run load:histories -- --runs 100 --seed 1`: clients move money and use intents over faulty connections (client and
 * API, API and PostgreSQL, API or worker and Temporal); what each client saw is recorded and checked for linearizability.
 * `--plant funds` leaves out the check of funds, `--plant keys` the look at known keys: a run must then be illegal. Exit
 * code 1 when a history is illegal, 0 with "skipped" where there is no Go.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Installation, startInstallation } from '../support/installation.ts';
import { type More, startMore } from '../support/more-processes.ts';
import { callBy, untilAnswered } from '../support/plain-calls.ts';
import { eventually } from '../support/world.ts';
import { type Faultiness, type FaultyLink, startFaultyLink } from './faulty-link.ts';
import { type Checker, openChecker } from './history-checker.ts';
import { type Book, fundWallet, intentCount, playHistory, readBalance } from './history-clients.ts';
import { historyRecord, type Line } from './history-record.ts';
import { randomFrom } from './random.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    clients: { type: 'string', default: '6' },
    steps: { type: 'string', default: '16' },
    plant: { type: 'string' },
    /** A folder that gets the illegal histories. */
    keep: { type: 'string' },
  },
});
const [runs, firstSeed, clients, steps] = [values.runs, values.seed, values.clients, values.steps].map(Number) as [
  number,
  number,
  number,
  number,
];
const runsOfInstallation = 25;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

type Links = { readonly clients: readonly FaultyLink[]; readonly database: FaultyLink; readonly temporal: FaultyLink };
type Site = { readonly installation: Installation; readonly links: Links; readonly apiUrls: readonly string[] };

/** The first API speaks with PostgreSQL and Temporal directly, the second one and the worker over faulty connections. */
async function withSite(work: (site: Site) => Promise<void>): Promise<void> {
  const idle = fileURLToPath(new URL('idle-worker.ts', import.meta.url));
  const installation = await startInstallation({ BURSAR_IDEMPOTENCY_LEASE_SECONDS: '5' }, { worker: idle });
  const stops: (() => Promise<void>)[] = [installation.stop];
  const linkTo = async (address: string): Promise<FaultyLink> => {
    const { hostname, port } = new URL(address);
    const link = await startFaultyLink({ host: hostname, port: Number(port) });
    stops.push(link.close);
    return link;
  };
  try {
    const { ready } = installation;
    const [database, temporal] = [await linkTo(ready.databaseUrl), await linkTo(`http://${ready.temporalAddress}`)];
    const databaseUrl = new URL(ready.databaseUrl);
    databaseUrl.host = `127.0.0.1:${database.port}`;
    const elsewhere = { databaseUrl: databaseUrl.href, temporalAddress: `127.0.0.1:${temporal.port}` };
    const more: More = await startMore(installation, elsewhere);
    stops.push(more.stop);
    const clientLinks = [await linkTo(installation.apiUrl), await linkTo(more.apiUrl)];
    const apiUrls = clientLinks.map(({ port }) => `http://127.0.0.1:${port}`);
    await work({ installation, links: { clients: clientLinks, database, temporal }, apiUrls });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

const walletCount = 3;

async function openBook({ owner }: Installation): Promise<Book> {
  const { key, send } = await owner();
  const call = callBy(send);
  const made = async (method: string, path: string, body?: object) => {
    const request = `${method} ${path} ${JSON.stringify(body)}`;
    const idempotencyKey = randomUUID();
    const answer = await untilAnswered(() => call(method, path, body, idempotencyKey), 120_000);
    if (answer.status >= 300) throw new Error(`${request}: ${JSON.stringify(answer)}`);
    return answer.body;
  };
  await made('POST', '/fund', { amountEuros: 5_000 });
  const wallets: string[] = [];
  while (wallets.length < walletCount)
    wallets.push((await made('POST', '/wallets', { name: `Wallet ${wallets.length}` })).id);
  const { id: agentId, cardId } = await made('POST', '/agents', { name: 'Buyer' });
  const limits = { dailyLimitEuros: 100_000, monthlyLimitEuros: 100_000, maxTransactionEuros: 1_000 };
  await made('PATCH', `/policies/agent/${agentId}`, { ...limits, autoApproveLimitEuros: 40, requireIntent: true });
  const { cardRef } = (await call('GET', `/cards/${cardId}`)).body;
  return { key, agentId, cardRef, wallets };
}

type Played = {
  readonly lines: readonly Line[];
  readonly wrong: readonly string[];
  readonly faults: string;
  readonly ms: number;
};

async function play(site: Site, seed: number): Promise<Played> {
  const { installation, links, apiUrls } = site;
  const book = await openBook(installation);
  const record = historyRecord(String(seed));
  const wrong: string[] = [];
  const networkKey = installation.ready.networkKey as string;
  const needs = { book, record, apiUrls, networkKey, wrong: (what: string) => void wrong.push(what) };
  const random = randomFrom(seed);
  const all = [...links.clients, links.database, links.temporal];
  const since = performance.now();
  const shares = [0.05, 0.05, 0.012, 0.04];
  for (const [n, link] of all.entries())
    link.begin(seed * 7 + n, faultinessOf((shares[n] ?? 0) * (0.5 + random.below(100) / 100)));
  for (const number of book.wallets.keys()) await fundWallet(needs, { number: clients, random }, number);
  await playHistory(needs, { seed, clients, steps });
  for (const link of all) link.end();
  const counts = ['client', 'client 2', 'database', 'temporal'].map(
    (name, n) => `${name} ${total(all[n] as FaultyLink)}`,
  );
  sum.faults += all.reduce((count, link) => count + total(link), 0);
  await isQuiet(installation);
  for (const number of book.wallets.keys()) await readBalance(needs, { number: clients, random }, number);
  return { lines: record.lines, wrong, faults: counts.join(', '), ms: performance.now() - since };
}

/** What the APIs logged as their own fault. */
async function errorsOf({ dir }: Installation): Promise<string[]> {
  const texts = await Promise.all(['api', 'api-2'].map((name) => readFile(join(dir, 'logs', `${name}.log`), 'utf8')));
  return texts
    .flatMap((text) => text.split('\n').filter((line) => /"level":(50|60|"error"|"fatal")/.test(line)))
    .slice(-3);
}

const faultinessOf = (share: number): Faultiness => ({ share, lateMs: 300, halfOpenMs: 2_500 });
const total = ({ counts }: FaultyLink): number => Object.values(counts).reduce((sum, one) => sum + one, 0);

/** No statement of an API is under way: what was sent has taken effect, or never will. */
const isQuiet = ({ sql }: Installation) =>
  eventually(
    () =>
      sql(
        `select pid from pg_stat_activity where application_name = 'bursar-api' and state <> 'idle' and wait_event_type <> 'Client'`,
      ),
    (open) => open.length === 0,
  );

type Edit = { readonly file: string; readonly from: string; readonly to: string };
const planted: Readonly<Record<string, { readonly edits: readonly Edit[]; readonly also?: string }>> = {
  /** The database itself refuses a balance below zero, so its constraints go as well. */
  funds: {
    edits: [
      { file: 'post-journals.sql', from: 'if a_balance[v_k] < 0 then', to: 'if false then' },
      { file: 'fund-plainly.sql', from: 'min(l.after) >= 0', to: 'true' },
    ],
    also: `do $$ declare v record; begin
      for v in select conrelid::regclass as place, conname from pg_constraint
        where contype = 'c' and pg_get_constraintdef(oid) ~ 'balance\\w*_cents >= 0' loop
        execute format('alter table %s drop constraint %I', v.place, v.conname);
      end loop; end $$`,
  },
  keys: {
    edits: [
      {
        file: 'atomic-writes.sql',
        from: "where k.reserved_at > now() - interval '24 hours'\n$$",
        to: 'where false\n$$',
      },
      { file: 'atomic-writes.sql', from: 'if v_kept < (select', to: 'if false and v_kept < (select' },
    ],
  },
};

async function plant({ sql }: Installation, name: string): Promise<void> {
  const fault = planted[name];
  if (fault === undefined) throw new Error(`no fault ${name}; there are ${Object.keys(planted).join(', ')}`);
  const texts = new Map<string, string>();
  for (const { file, from, to } of fault.edits) {
    const text =
      texts.get(file) ?? (await readFile(new URL(`../../src/db/functions/${file}`, import.meta.url), 'utf8'));
    if (text.split(from).length !== 2) throw new Error(`${file} has changed: the fault does not fit`);
    texts.set(
      file,
      text.replace(from, () => to),
    );
  }
  for (const text of texts.values()) await sql(text);
  if (fault.also !== undefined) await sql(fault.also);
}

const sum = { runs: 0, operations: 0, unknown: 0, illegal: 0, undecided: 0, wrong: 0, faults: 0 };
const outcomes: Record<string, number> = {};

async function run(site: Site, checker: Checker, seed: number): Promise<void> {
  const { lines, wrong, faults, ms } = await play(site, seed);
  const verdicts = await checker.check(lines);
  const illegal = verdicts.filter(({ verdict }) => verdict === 'illegal');
  const unknown = lines.filter(({ out }) => out === 'unknown').length;
  sum.runs += 1;
  sum.operations += lines.length;
  sum.unknown += unknown;
  sum.illegal += illegal.length;
  sum.undecided += verdicts.filter(({ verdict }) => verdict === 'unknown').length;
  sum.wrong += wrong.length;
  for (const { op, out } of lines) outcomes[`${op} ${out}`] = (outcomes[`${op} ${out}`] ?? 0) + 1;
  const found = illegal.length > 0 ? `ILLEGAL ${illegal.map(({ history }) => history).join(', ')}` : 'linearizable';
  say(
    `seed ${seed}: ${(ms / 1_000).toFixed(1)} s, ${lines.length} operations, ${unknown} unknown, faults ${faults}: ${found}`,
  );
  for (const one of wrong.slice(0, 3)) say(`  WRONG ANSWER ${one.slice(0, 300)}`);
  if (wrong.length > 0) for (const line of await errorsOf(site.installation)) say(`  LOG ${line.slice(0, 1_500)}`);
  if (values.keep === undefined || illegal.length === 0) return;
  await mkdir(values.keep, { recursive: true });
  const names = new Set(illegal.map(({ history }) => history));
  const kept = lines.filter(({ history }) => names.has(history)).map((line) => JSON.stringify(line));
  await writeFile(join(values.keep, `${seed}.ndjson`), `${kept.join('\n')}\n`);
}

const checker = await openChecker();
if (typeof checker === 'string') say(`skipped: the check for linearizability ${checker}`);
else {
  try {
    for (let from = 0; from < runs; from += runsOfInstallation) {
      await withSite(async (site) => {
        if (values.plant !== undefined) await plant(site.installation, values.plant);
        for (let n = from; n < Math.min(runs, from + runsOfInstallation); n++) await run(site, checker, firstSeed + n);
      });
    }
  } finally {
    await checker.close();
  }
  say(JSON.stringify({ ...sum, historiesOfRun: 1 + intentCount, outcomes }));
  process.exitCode = sum.illegal + sum.undecided + sum.wrong === 0 ? 0 : 1;
}
