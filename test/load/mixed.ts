/**
 * `npm run load:mixed`: 40 clients for three minutes declare, approve, execute, cancel, freeze, authorize, clear early
 * and late and reverse, against a separate installation on loopback; then separate queries check every sum.
 * LOAD_SECONDS, LOAD_CLIENTS and LOAD_SEED change the run. Exit code 1 when anything is wrong.
 * @module
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../support/world.ts';
import { checkCount, deadlocks, failedChecks } from './checks.ts';
import { runClient } from './client.ts';
import { randomFrom } from './random.ts';
import { createRecorder } from './record.ts';
import { type Site, startSite } from './site.ts';

const seconds = Number(process.env.LOAD_SECONDS ?? 180);
const clients = Number(process.env.LOAD_CLIENTS ?? 40);
const seed = Number(process.env.LOAD_SEED ?? Math.floor(Math.random() * 1e9));
const quietWithinMs = 300_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const site = await startSite();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void site.installation.stop().then(() => process.exit(130)));
try {
  process.exitCode = (await run(site)) ? 0 : 1;
} finally {
  await site.installation.stop();
}

async function run(site: Site): Promise<boolean> {
  say(`mixed load: ${clients} clients for ${seconds} s, seed ${seed}`);
  const record = createRecorder();
  const since = performance.now();
  const until = since + seconds * 1_000;
  const progress = setInterval(
    () => say(`  ${Math.round((performance.now() - since) / 1_000)} s: ${record.requests} requests`),
    30_000,
  );
  await Promise.all(
    Array.from({ length: clients }, (_, number) => runClient(site, record, randomFrom(seed + number), until)),
  );
  clearInterval(progress);
  const loadedSeconds = (performance.now() - since) / 1_000;
  say(
    `${record.requests} requests in ${loadedSeconds.toFixed(0)} s, ${(record.requests / loadedSeconds).toFixed(0)}/s`,
  );
  const quietSince = performance.now();
  const left = await eventually(
    () => openWork(site),
    (open) => open === 0,
    quietWithinMs,
  ).catch(() => openWork(site));
  say(`quiet after ${((performance.now() - quietSince) / 1_000).toFixed(1)} s`);
  for (const line of record.table()) say(line);

  const wrong = [
    ...record.faults,
    ...(left === 0 ? [] : [`${left} deliveries, wakes or journals still wait after ${quietWithinMs / 1_000} s`]),
    ...(await failedChecks(site)),
    ...(await unverified(site)),
    ...(await loggedErrors(site)),
  ];
  const locked = await deadlocks(site.installation);
  if (locked > 0) wrong.push(`${locked} deadlocks`);
  say(`${checkCount} checks, ${locked} deadlocks`);
  for (const line of wrong) say(`WRONG ${line}`);
  say(wrong.length === 0 ? 'mixed load: all is right' : `mixed load: ${wrong.length} findings`);
  return wrong.length === 0;
}

/** What the worker has still to do for this load. */
async function openWork({ installation }: Site): Promise<number> {
  const [row] = await installation.sql<{ open: string }>(
    `select (select count(*) from webhook_deliveries where status in ('pending', 'delivering'))
       + (select count(*) from workflow_runs where wanted_wake or waking_until is not null)
       + (select count(*) from unsealed_journals) as open`,
  );
  return Number(row?.open);
}

async function unverified({ agents, installation }: Site): Promise<string[]> {
  const keys = new Map(agents.map(({ ownerId, key }) => [ownerId, key]));
  const found: string[] = [];
  for (const [ownerId, key] of keys) {
    const answer = await installation.as(key).send({ method: 'GET', path: '/ledger/verify?full=true', headers: {} });
    const book = (await answer.json()) as { balanced?: boolean; differences?: unknown[]; unsealed?: number };
    if (book.balanced !== true || book.differences?.length !== 0 || book.unsealed !== 0)
      found.push(`GET /ledger/verify of ${ownerId}: ${JSON.stringify(book).slice(0, 300)}`);
  }
  return found;
}

/** A process that logs an error has met something that its code did not expect. */
async function loggedErrors({ installation }: Site): Promise<string[]> {
  const found: string[] = [];
  for (const name of ['api', 'worker', 'sandbox']) {
    const log = await readFile(join(installation.dir, 'logs', `${name}.log`), 'utf8');
    const errors = log.split('\n').filter((line) => /"level":(50|60)/.test(line));
    if (errors.length > 0) found.push(`${name} logged ${errors.length} errors, e.g. ${errors[0]?.slice(0, 400)}`);
  }
  return found;
}
