/**
 * First deliveries of webhooks over a whole installation, from the commit of an event to its receipt at ten endpoints:
 * rate, share of a bare client's rate, delay at half the rate, memory of the worker; and the same beside a dead endpoint,
 * beside a dead and a slow one, beside 100,000 failed deliveries that are attempted again, and with many finished
 * deliveries in the tables (`BENCH_FINISHED`). Deliveries to the dead, slow and failing endpoints are not counted.
 * @module
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../src/kernel/ids.ts';
import { cpuClock, cpuPer } from './support/cpu.ts';
import { evaluate, inMs, percentile, perSecond, table, whole } from './support/figures.ts';
import { type BenchInstallation, startInstallation } from './support/installation.ts';
import { startProgram } from './support/program.ts';
import { type BenchReceiver, type Receipt, startBenchReceiver } from './support/receiver.ts';
import { type Ending, measuredSeconds, runBench, say } from './support/run.ts';

const endpoints = 10;
const eventsAtOnce = 50;
/** More is committed only while less than this waits. */
const mostWaiting = 10_000;
const finished = Math.max(0, Number(process.env.BENCH_FINISHED ?? 1_000_000));
const comparisons = 5;
const failed = 100_000;
const shortSeconds = Math.max(1, measuredSeconds / 6);
/** Of a round that is compared with those beside it: what differs from second to second must not decide. */
const comparedSeconds = Math.max(1, measuredSeconds / 4);
/** How long the bench waits for the last delivery of a round before it calls it lost. */
const patienceMs = 120_000;
const wanted = {
  ...{ perSecond: 10_000, share: 0.3, p99Ms: 250, slowdown: 0.05, slowdownByTwo: 0.1, p99BesideFailedMs: 2_000 },
  withFinished: 1.3,
};

type Site = BenchInstallation & { readonly receiver: BenchReceiver };

async function call(site: Site, method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const { url, headers } = site;
  const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

const eventName = 'transaction.completed';
const subscribe = async (site: Site, url: string): Promise<string> =>
  String((await call(site, 'POST', '/webhooks', { url, events: [eventName] })).id);

type Commit = { readonly ids: readonly string[]; readonly at: number };

/** Events in one commit, each with its audit row, as a service writes them. `data` is JSON. */
async function commitEvents({ sql, ownerId }: Site, data: string, count: number): Promise<Commit> {
  const ids = Array.from({ length: count }, () => newId('event'));
  const shared = `"owner_id":"${ownerId}","request_id":"bench","created_at":"${new Date().toISOString()}"`;
  const audit = `"actor":"system","action":"${eventName}","details":{},"outcome":"done"`;
  const [events, audits]: [string[], string[]] = [[], []];
  for (const id of ids) {
    const own = `"subject_id":"${newId('transaction')}",${shared}`;
    events.push(`{"id":"${id}","name":"${eventName}","data":${data},${own}}`);
    audits.push(`{"id":"${newId('audit')}",${audit},${own}}`);
  }
  await sql('select record_changes($1::jsonb, $2::jsonb)', [`[${events.join()}]`, `[${audits.join()}]`]);
  return { ids, at: instant() };
}

/** When each event was committed, by its number. Looked up after a round, because it takes the database as much as a claim. */
async function commitsByNumber({ sql }: Site, commits: readonly Commit[]): Promise<Map<number, number>> {
  const at = new Map(commits.flatMap((commit) => commit.ids.map((id) => [id, commit.at] as const)));
  const rows = await sql<{ id: string; seq: number }>('select id, seq::float8 as seq from events where id = any($1)', [
    [...at.keys()],
  ]);
  return new Map(rows.map(({ id, seq }) => [seq, at.get(id) ?? Number.NaN]));
}

const instant = (): number => performance.timeOrigin + performance.now();

type Round = {
  readonly deliveries: number;
  readonly rate: number;
  readonly delays: readonly number[];
  readonly repeats: number;
  readonly lost: number;
  readonly cpu: string;
};

/** `slowdown` as a share of the rate alone. */
type Compared = { readonly measured: Round; readonly after: Round; readonly slowdown: number };

/** Without `eventsPerSecond` as many as are delivered. Ends when everything has arrived. */
async function round(site: Site, data: string, seconds: number, eventsPerSecond?: number): Promise<Round> {
  const commits: Commit[] = [];
  let committed = 0;
  const { receiver, pids } = site;
  await receiver.take();
  const before = cpuClock({ ...pids, receiver: receiver.pid });
  const receivedBefore = receiver.received();
  const start = instant();
  const waiting = () => committed * endpoints - (receiver.received() - receivedBefore);
  while (instant() < start + seconds * 1_000) {
    const due = eventsPerSecond === undefined ? eventsAtOnce : dueNow(start, eventsPerSecond) - committed;
    if (due > 0 && waiting() < mostWaiting) {
      commits.push(await commitEvents(site, data, due));
      committed += due;
    } else await sleep(2);
  }
  const until = instant() + patienceMs;
  while (waiting() > 0 && instant() < until) await sleep(50);
  await sleep(200); // What comes twice comes now.
  const after = cpuClock({ ...pids, receiver: receiver.pid });
  const receipts = await receiver.take();
  return summary(receipts, await commitsByNumber(site, commits), start, (deliveries) =>
    cpuPer(deliveries, before, after),
  );
}

const dueNow = (start: number, eventsPerSecond: number): number =>
  Math.floor(((instant() - start) / 1_000) * eventsPerSecond);

function summary(
  receipts: readonly Receipt[],
  committedAt: ReadonlyMap<number, number>,
  start: number,
  cpuOf: (deliveries: number) => string,
): Round {
  const first = new Map<string, number>();
  let [repeats, last] = [0, start];
  for (const [sequence, path, at] of receipts) {
    if (!committedAt.has(sequence)) continue; // Of the round before: a retry.
    const key = `${sequence}${path}`;
    if (first.has(key)) repeats += 1;
    else first.set(key, Math.max(0, at - (committedAt.get(sequence) ?? at)));
    last = Math.max(last, at);
  }
  return {
    deliveries: first.size,
    rate: perSecond(first.size, (last - start) / 1_000),
    delays: [...first.values()],
    repeats,
    lost: committedAt.size * endpoints - first.size,
    cpu: cpuOf(first.size),
  };
}

/** In MiB, once a second; nothing where the system does not tell. */
function watchMemory(pid: number | undefined, atEnd: Ending): { stop(): readonly number[] } {
  const seen: number[] = [];
  const timer = setInterval(() => {
    try {
      seen.push((Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4_096) / 2 ** 20);
    } catch (_gone) {
      // Ended, or this is not Linux.
    }
  }, 1_000);
  atEnd(async () => clearInterval(timer));
  return {
    stop: () => {
      clearInterval(timer);
      return seen;
    },
  };
}

/** Deliveries that are over, as the relay leaves them. */
async function seedFinished({ sql, ownerId }: Site, webhookId: string, count: number): Promise<void> {
  const attempt = JSON.stringify([
    { attempt: 1, deliveryId: 'whd_0.1', at: '', responseStatus: 204, responseMs: 3, error: null, responseBody: null },
  ]);
  for (let made = 0; made < count; made += 100_000) {
    await sql(
      `insert into webhook_deliveries (id, webhook_id, owner_id, event_id, event, plan, status, attempts_made, claims,
         attempts, created_at, delivered_at)
       select new_time_ordered_id('whd'), $1, $2, 'evt_finished', '${eventName}', 'starter', 'succeeded', 1, 1,
         $3::jsonb, now() - interval '1 day', now() from generate_series(1, $4::int)`,
      [webhookId, ownerId, attempt, Math.min(100_000, count - made)],
    );
  }
  await sql('vacuum analyze webhook_deliveries');
}

/** Deliveries that failed once and are due, and the run that attempts them again. */
async function seedFailed({ sql, ownerId }: Site, webhookId: string, count: number): Promise<void> {
  await sql(
    `insert into webhook_deliveries (id, webhook_id, owner_id, event_id, event, plan, status, attempts_made, claims,
       next_attempt_at, created_at)
     select new_time_ordered_id('whd'), $1, $2, e.id, e.name, 'enterprise', 'pending', 1, 1, now(), now()
     from (select id, name from events where name = '${eventName}' limit 1) e, generate_series(1, $3::int)`,
    [webhookId, ownerId, count],
  );
  await sql(
    `insert into workflow_runs (id, workflow, subject_id, owner_id, stage, due_at, created_at)
     values ('webhook-endpoint/' || $1, 'webhookEndpoint', $1, $2, 'retrying', now(), now())`,
    [webhookId, ownerId],
  );
}

/** How many failed deliveries of this endpoint were attempted again, once one was. */
async function attemptedAgain({ sql }: Site, webhookId: string): Promise<number> {
  for (const until = instant() + patienceMs; ; ) {
    const [row] = await sql<{ count: number }>(
      'select count(*)::int as count from webhook_deliveries where webhook_id = $1 and attempts_made > 1',
      [webhookId],
    );
    if ((row?.count ?? 0) > 0 || instant() > until) return row?.count ?? 0;
    await sleep(200);
  }
}

/** Measures the rate of a bare client, each time it is called. */
async function startFloor(
  site: Site,
  body: string,
  urls: readonly string[],
  atEnd: Ending,
): Promise<() => Promise<number>> {
  const floor = await startProgram('bench/floor/webhooks.ts', {}, atEnd);
  const headers = {
    'content-type': 'application/json',
    'x-service-event': eventName,
    'x-service-sequence': '0',
    'x-service-timestamp': '1795161600',
    'x-service-delivery-id': 'whd_01kaftm3w0e6r8t9y0b1c2d3e4.1',
    'x-service-signature': `sha256=${'0'.repeat(64)}`,
    'x-request-id': '019aa3d1-0000-7000-8000-000000000000',
    'webhook-id': 'whd_01kaftm3w0e6r8t9y0b1c2d3e4',
    'webhook-timestamp': '1795161600',
    'webhook-signature': `v1,${'0'.repeat(44)}`,
  };
  const measure = async (seconds: number): Promise<number> => {
    floor.child.send({ urls, headers, body, openPerUrl: 10, seconds });
    const [{ done, tookMs }] = (await once(floor.child, 'message')) as [{ done: number; tookMs: number }];
    return perSecond(done, tookMs / 1_000);
  };
  await measure(1);
  return async () => {
    const rate = await measure(Math.max(1, measuredSeconds / 4));
    await site.receiver.take();
    return rate;
  };
}

await runBench('webhooks', async (atEnd) => {
  const receiver = await startBenchReceiver(endpoints + 2, atEnd);
  const [slow, failing, ...good] = receiver.origins;
  // Nothing listens on the discard port, and no test machine forwards it.
  const dead = 'http://127.0.0.1:9';
  const site: Site = { ...(await startInstallation(atEnd, { allowedOrigins: [...receiver.origins, dead] })), receiver };
  const urls = good.map((origin, n) => `${origin}/r${n}`);
  const ids: string[] = [];
  for (const url of urls) ids.push(await subscribe(site, url));
  const { example } = await call(site, 'GET', `/webhooks/events/${eventName}`);
  const body = JSON.stringify({ event: eventName, createdAt: new Date().toISOString(), data: example, sequence: 0 });
  const data = JSON.stringify(example);
  const memory = watchMemory(site.pids.worker, atEnd);

  await round(site, data, shortSeconds); // Until the processes run compiled code.
  const measureFloor = await startFloor(site, body, urls, atEnd);
  // Before and after the round that is compared with it, because the machine's pace changes meanwhile.
  const floorBefore = await measureFloor();
  const plain = await round(site, data, measuredSeconds);
  const floor = (floorBefore + (await measureFloor())) / 2;
  const half = plain.rate / endpoints / 2;
  const steady = await round(site, data, measuredSeconds, half);

  const deadId = await subscribe(site, `${dead}/dead`);
  const slowId = await subscribe(site, `${slow}/slow`);
  const failingId = await subscribe(site, `${failing}/fails`);
  const set = (id: string, status: 'active' | 'paused') => call(site, 'PATCH', `/webhooks/${id}`, { status });
  const beside = async (
    others: readonly string[],
    { perSecond, seconds = shortSeconds }: { perSecond?: number; seconds?: number } = {},
  ): Promise<Round> => {
    for (const id of others) await set(id, 'active');
    const measured = await round(site, data, seconds, perSecond);
    for (const id of others) await set(id, 'paused');
    return measured;
  };
  for (const id of [deadId, slowId, failingId]) await set(id, 'paused');
  // Each is compared with the rounds alone before and after it, because the machine's pace changes meanwhile.
  const compare = async (others: readonly string[], before: Round): Promise<Compared> => {
    const measured = await beside(others, { seconds: comparedSeconds });
    const after = await beside([], { seconds: comparedSeconds });
    return { measured, after, slowdown: 1 - measured.rate / ((before.rate + after.rate) / 2) };
  };
  const first = await beside([], { seconds: comparedSeconds });
  const compared: { readonly byDead: Compared; readonly byBoth: Compared }[] = [];
  for (let n = 0; n < comparisons; n++) {
    const byDead = await compare([deadId], compared.at(-1)?.byBoth.after ?? first);
    compared.push({ byDead, byBoth: await compare([deadId, slowId], byDead.after) });
  }
  const slowdownBy = (which: 'byDead' | 'byBoth'): number[] => compared.map((one) => one[which].slowdown);
  await set(failingId, 'active');
  await seedFailed(site, failingId, failed);
  const before = await attemptedAgain(site, failingId);
  const besideFailed = await beside([failingId], { perSecond: half });
  const again = (await attemptedAgain(site, failingId)) - before;
  const alone = await beside([]);
  await seedFinished(site, ids[0] ?? '', finished);
  const after = await round(site, data, shortSeconds);
  const comparing = compared.flatMap(({ byDead, byBoth }) => [byDead, byBoth]);
  const rounds = [
    ...[plain, steady, first],
    ...comparing.flatMap(({ measured, after: next }) => [measured, next]),
    ...[besideFailed, alone, after],
  ];
  const megabytes = memory.stop();

  const shown = (what: string, { deliveries, rate, delays, cpu }: Round): string[] => [
    ...[what, whole(deliveries), `${whole(rate)}/s`],
    ...[inMs(percentile(delays, 0.5)), inMs(percentile(delays, 0.99)), cpu],
  ];
  table(
    ['deliveries', 'number', 'rate', 'p50', 'p99', 'CPU of each'],
    [
      shown(`${endpoints} endpoints, as fast as they go`, plain),
      shown(`${whole(half * endpoints)}/s arriving`, steady),
      ['floor: the same requests, bare undici', '', `${whole(floor)}/s`, '', '', ''],
      ...compared
        .slice(-1)
        .flatMap(({ byDead, byBoth }) => [
          shown('beside one dead endpoint', byDead.measured),
          shown('beside one dead and one slow endpoint', byBoth.measured),
          shown('the same endpoints alone, between these', byDead.after),
        ]),
      shown(`${whole(half * endpoints)}/s arriving beside ${whole(failed)} failed`, besideFailed),
      shown('the same endpoints alone, after all these', alone),
      shown(`with ${whole(finished)} finished deliveries`, after),
    ],
  );
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  say(
    `slowdown by one dead endpoint, each beside the rounds without before and after it: ${slowdownBy('byDead').map(percent).join(', ')}`,
  );
  say(`slowdown by a dead and a slow endpoint, the same: ${slowdownBy('byBoth').map(percent).join(', ')}`);
  say(`of ${whole(failed)} failed deliveries, ${whole(again)} were attempted again meanwhile`);
  const [slowdown, slowdownByTwo] = [percentile(slowdownBy('byDead'), 0.5), percentile(slowdownBy('byBoth'), 0.5)];
  const p99BesideFailed = percentile(besideFailed.delays, 0.99);
  const [firstMb = Number.NaN, lastMb = Number.NaN] = [megabytes[0], megabytes.at(-1)];
  say(
    `memory of the worker: ${whole(firstMb)} MiB, at most ${whole(Math.max(...megabytes))}, ${whole(lastMb)} at the end`,
  );
  say(`body of a delivery: ${body.length} bytes`);
  const lost = rounds.reduce((sum, one) => sum + one.lost, 0);
  const repeats = rounds.reduce((sum, one) => sum + one.repeats, 0);
  const p99 = percentile(steady.delays, 0.99);
  const [share, ratio] = [plain.rate / floor, alone.rate / after.rate];
  return evaluate([
    {
      ...{ what: 'deliveries', found: `${whole(plain.rate)}/s`, target: `≥ ${whole(wanted.perSecond)}/s` },
      isMet: plain.rate >= wanted.perSecond,
    },
    { what: 'share of the floor', found: share.toFixed(2), target: `≥ ${wanted.share}`, isMet: share >= wanted.share },
    {
      ...{ what: 'p99 from commit to receipt at half the rate', found: inMs(p99), target: `≤ ${wanted.p99Ms} ms` },
      isMet: p99 <= wanted.p99Ms,
    },
    {
      ...{ what: 'slowdown by one dead endpoint, median', found: percent(slowdown), target: '< 5 %' },
      isMet: slowdown < wanted.slowdown,
    },
    {
      ...{ what: 'slowdown by a dead and a slow one, median', found: percent(slowdownByTwo), target: '< 10 %' },
      isMet: slowdownByTwo < wanted.slowdownByTwo,
    },
    {
      ...{ what: `p99 beside ${whole(failed)} failed`, found: inMs(p99BesideFailed) },
      ...{ target: `≤ ${wanted.p99BesideFailedMs} ms`, isMet: p99BesideFailed <= wanted.p99BesideFailedMs },
    },
    {
      ...{ what: `slower with ${whole(finished)} finished`, found: `× ${ratio.toFixed(2)}`, target: '≤ × 1.3' },
      isMet: ratio <= wanted.withFinished,
    },
    { what: 'lost', found: `${lost}; ${repeats} came twice`, target: '0', isMet: lost === 0 },
  ]);
});
