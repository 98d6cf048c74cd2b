/**
 * The load, in a separate process: GETs by autocannon as fast as they are answered; POSTs as prepared bytes,
 * either as fast as they are answered or at a fixed rate of arrival, where a late start counts as waiting.
 * @module
 */
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, Loaded } from './load.ts';
import { openRaw, type RawConnection, rawRequest } from './raw-client.ts';

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
    refused: [],
  };
}

async function posts(job: Posts): Promise<Loaded> {
  const requests = job.calls.map((call) => rawRequest(job.url, job.headers, call));
  const open = await Promise.all(Array.from({ length: job.connections }, () => openRaw(job.url)));
  const latencies: number[] = [];
  const answers: string[] = [];
  const refused: number[] = [];
  let failures = 0;
  const send: Send = async (connection, request, dueAt, nth) => {
    const { status, text } = await connection.send(request, job.keepsAnswers);
    if (status === 503 && job.mayBeRefused === true) return void refused.push(nth);
    latencies.push(performance.now() - dueAt);
    if (status >= 300) {
      failures += 1;
      if (failures === 1) process.stderr.write(`${status} ${text}\n`);
    } else if (job.keepsAnswers) answers.push(text);
  };
  const start = performance.now();
  await (job.perSecond === undefined
    ? closed(requests, open, job.seconds, send)
    : arriving(requests, open, job.perSecond * job.seconds, job.perSecond, send));
  const tookMs = performance.now() - start;
  for (const connection of open) connection.close();
  const sorted = latencies.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
  return { count: sorted.length, seconds: tookMs / 1_000, failures, p50Ms: at(0.5), p99Ms: at(0.99), answers, refused };
}

type Posts = Extract<Job, { kind: 'posts' }>;
type Send = (connection: RawConnection, request: Buffer, dueAt: number, nth: number) => Promise<void>;

/** Each connection sends its next request when the last one was answered. */
async function closed(
  requests: readonly Buffer[],
  open: readonly RawConnection[],
  seconds: number,
  send: Send,
): Promise<void> {
  const until = performance.now() + seconds * 1_000;
  let next = 0;
  const one = async (connection: RawConnection): Promise<void> => {
    while (performance.now() < until) {
      const nth = next++;
      const request = requests[nth];
      if (request === undefined) return;
      await send(connection, request, performance.now(), nth);
    }
  };
  await Promise.all(open.map(one));
}

/** Requests fall due at a steady pace, whether earlier ones were answered or not; one waits where no connection is free. */
async function arriving(
  requests: readonly Buffer[],
  open: readonly RawConnection[],
  count: number,
  perSecond: number,
  send: Send,
): Promise<void> {
  const wanted = Math.min(requests.length, Math.floor(count));
  const free = [...open];
  const start = performance.now();
  let due = 0;
  let next = 0;
  await new Promise<void>((done, failed) => {
    let ended = 0;
    const go = (): void => {
      for (let connection = free.at(-1); connection !== undefined && next < due; connection = free.at(-1)) {
        free.pop();
        const used = connection;
        const i = next++;
        send(used, requests[i] as Buffer, start + (i * 1_000) / perSecond, i).then(() => {
          free.push(used);
          ended += 1;
          if (ended === wanted) done();
          else go();
        }, failed);
      }
    };
    const tick = async (): Promise<void> => {
      while (due < wanted) {
        due = Math.min(wanted, Math.floor(((performance.now() - start) / 1_000) * perSecond) + 1);
        go();
        await sleep(1);
      }
    };
    tick().catch(failed);
  });
}
