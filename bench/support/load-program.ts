/**
 * The load, in a separate process: GETs by autocannon as fast as they are answered; POSTs by undici, either as fast
 * as they are answered or at a fixed rate of arrival, where a late start counts as waiting.
 * @module
 */
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Call, Job, Loaded } from './load.ts';

type Autocannon = (options: {
  url: string;
  headers: Record<string, string>;
  connections: number;
  duration: number;
  requests: { method: 'GET'; path: string }[];
}) => Promise<{
  requests: { total: number };
  latency: { p50: number; p99: number };
  duration: number;
  non2xx: number;
  errors: number;
  timeouts: number;
}>;
// It comes without types.
const autocannon = createRequire(import.meta.url)('autocannon') as Autocannon;

process.on('message', (job: Job) => {
  run(job).then(
    (loaded) => process.send?.({ loaded }),
    (error: unknown) =>
      process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

const run = (job: Job): Promise<Loaded> => (job.kind === 'gets' ? gets(job) : posts(job));

async function gets({ url, headers, paths, connections, seconds }: Extract<Job, { kind: 'gets' }>): Promise<Loaded> {
  const result = await autocannon({
    url,
    headers,
    connections,
    duration: seconds,
    requests: paths.map((path) => ({ method: 'GET', path })),
  });
  const { requests, latency, duration, non2xx, errors, timeouts } = result;
  return {
    count: requests.total,
    seconds: duration,
    failures: non2xx + errors + timeouts,
    p50Ms: latency.p50,
    p99Ms: latency.p99,
    answers: [],
  };
}

async function posts(job: Extract<Job, { kind: 'posts' }>): Promise<Loaded> {
  const pool = new Pool(job.url, { connections: job.connections, pipelining: 1 });
  const latencies: number[] = [];
  const answers: string[] = [];
  let failures = 0;
  const send = async ({ path, headers, body }: Call, dueAt: number): Promise<void> => {
    const answer = await pool.request({ method: 'POST', path, headers: { ...job.headers, ...headers }, body });
    const text = await answer.body.text();
    latencies.push(performance.now() - dueAt);
    if (answer.statusCode >= 300) {
      failures += 1;
      if (failures === 1) process.stderr.write(`${answer.statusCode} ${text}\n`);
    } else if (job.keepsAnswers) answers.push(text);
  };
  const start = performance.now();
  const seconds = await (job.perSecond === undefined ? closed(job, send) : arriving(job, job.perSecond, send));
  await pool.close();
  const sorted = latencies.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
  return {
    count: sorted.length,
    seconds: seconds ?? (performance.now() - start) / 1_000,
    failures,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    answers,
  };
}

type Posts = Extract<Job, { kind: 'posts' }>;
type Send = (call: Call, dueAt: number) => Promise<void>;

/** Each connection sends its next call when the last one was answered. */
async function closed({ calls, connections, seconds }: Posts, send: Send): Promise<undefined> {
  const until = performance.now() + seconds * 1_000;
  let next = 0;
  const one = async (): Promise<void> => {
    while (performance.now() < until) {
      const call = calls[next++];
      if (call === undefined) return;
      await send(call, performance.now());
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
}

/** Calls fall due at a steady pace, whether earlier ones were answered or not. */
async function arriving({ calls, seconds }: Posts, perSecond: number, send: Send): Promise<undefined> {
  const start = performance.now();
  const wanted = Math.min(calls.length, Math.floor(perSecond * seconds));
  const open: Promise<void>[] = [];
  for (let i = 0; i < wanted; ) {
    const due = Math.min(wanted, Math.floor(((performance.now() - start) / 1_000) * perSecond) + 1);
    for (; i < due; i++) open.push(send(calls[i] as Call, start + (i * 1_000) / perSecond));
    await sleep(1);
  }
  await Promise.all(open);
}
