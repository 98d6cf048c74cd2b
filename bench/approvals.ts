/**
 * How long it takes from a person's approval over HTTP until `GET /intents/{id}` shows it, one at a time, beside a
 * bare update of a workflow that runs one activity.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bare, startBare } from './support/bare.ts';
import { evaluate, inMs, percentile, table } from './support/figures.ts';
import { type BenchInstallation, startInstallation } from './support/installation.ts';
import { measuredSeconds, runBench } from './support/run.ts';
import { idOf, seedAgents, settle } from './support/seed.ts';

const agents = 200;
const worstMs = 60;

type Api = (method: 'GET' | 'POST', path: string, body?: object) => Promise<{ id: string; status: string }>;

const apiOf =
  ({ url, headers }: BenchInstallation): Api =>
  async (method, path, body) => {
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, init);
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { id: string; status: string };
  };

async function waitingIntent(api: Api, number: number): Promise<string> {
  const { id, status } = await api('POST', '/intents', {
    agentId: idOf('ag', 1 + (number % agents)),
    purpose: 'paper and pens for the office',
    expectedAmountEuros: 12.5,
  });
  if (status !== 'pending_approval') throw new Error(`${id} is ${status}: it should wait for a person`);
  return id;
}

async function approve(api: Api, id: string): Promise<number> {
  const start = performance.now();
  await api('POST', `/intents/${id}/approve`, {});
  while ((await api('GET', `/intents/${id}`)).status !== 'approved');
  return performance.now() - start;
}

/** Prepared before they are measured: what is being declared meanwhile would be measured as well. */
const round = 25;
const restMs = 1_000;

type Sides = { readonly api: Api; readonly bare: Bare };
type Found = { readonly approvals: number[]; readonly updates: number[] };

async function measureRound({ api, bare }: Sides, number: number): Promise<Found> {
  const intents: string[] = [];
  const bares: string[] = [];
  for (let i = 0; i < round; i++) {
    intents.push(await waitingIntent(api, number * round + i));
    bares.push(await bare.wait());
  }
  await sleep(restMs);
  const found: Found = { approvals: [], updates: [] };
  for (const [i, id] of intents.entries()) {
    found.approvals.push(await approve(api, id));
    const start = performance.now();
    await bare.decide(bares[i] ?? '');
    found.updates.push(performance.now() - start);
  }
  return found;
}

await runBench('approvals', async (atEnd) => {
  const installation = await startInstallation(atEnd);
  await seedAgents(installation.sql, installation.ownerId, agents, { auto_approve_limit_cents: 0 });
  await settle(installation.sql);
  const sides = { api: apiOf(installation), bare: await startBare(installation.temporalAddress, atEnd) };
  await measureRound(sides, 0); // Everything is compiled and connected by then.
  const found: Found = { approvals: [], updates: [] };
  const until = performance.now() + measuredSeconds * 1_000;
  for (let number = 1; performance.now() < until; number++) {
    const { approvals, updates } = await measureRound(sides, number);
    found.approvals.push(...approvals);
    found.updates.push(...updates);
  }
  const shown = (values: number[]) => [0.5, 0.99].map((share) => inMs(percentile(values, share)));
  table(
    [`${found.approvals.length} at c=1, in turns`, 'p50', 'p99'],
    [
      ['approve until it is shown', ...shown(found.approvals)],
      ['bare update', ...shown(found.updates)],
    ],
  );
  const p99 = percentile(found.approvals, 0.99);
  return evaluate([
    { what: 'approve until it is shown, p99', found: inMs(p99), target: `≤ ${worstMs} ms`, isMet: p99 <= worstMs },
  ]);
});
