/**
 * How long it takes from a person's approval over HTTP until `GET /intents/{id}` shows it, one at a time, beside a
 * bare update of a workflow that runs one activity.
 * @module
 */
import { startBare } from './support/bare.ts';
import { inMs, judge, percentile, table } from './support/figures.ts';
import { type BenchInstallation, startInstallation } from './support/installation.ts';
import { measuredSeconds, runBench } from './support/run.ts';
import { idOf, seedAgents, settle } from './support/seed.ts';

const agents = 200;
const worstMs = 60;
const most = 1_000;

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

/** Waiting for a person, both have been idle for a while. */
const ahead = 20;

await runBench('approvals', async (atEnd) => {
  const installation = await startInstallation(atEnd);
  await seedAgents(installation.sql, installation.ownerId, agents, { auto_approve_limit_cents: 0 });
  await settle(installation.sql);
  const bare = await startBare(installation.temporalAddress, atEnd);
  const api = apiOf(installation);
  const intents: string[] = [];
  const bares: string[] = [];
  const found = { approvals: [] as number[], updates: [] as number[] };
  let until = Number.POSITIVE_INFINITY;
  for (let i = 0; i < most && performance.now() < until; i++) {
    intents.push(await waitingIntent(api, i));
    bares.push(await bare.wait());
    if (i < ahead) continue;
    const approval = await approve(api, intents[i - ahead] ?? '');
    const start = performance.now();
    await bare.decide(bares[i - ahead] ?? '');
    if (i < 2 * ahead) continue; // Everything is compiled and connected by then.
    if (i === 2 * ahead) until = performance.now() + measuredSeconds * 1_000;
    found.approvals.push(approval);
    found.updates.push(performance.now() - start);
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
  return judge([
    { what: 'approve until it is shown, p99', found: inMs(p99), target: `≤ ${worstMs} ms`, isMet: p99 <= worstMs },
  ]);
});
