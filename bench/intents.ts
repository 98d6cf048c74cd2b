/**
 * How long it takes to declare an intent over HTTP with its workflow started beside it, and how many lifecycles a
 * second get going, beside bare workflows with one activity on the same server, worker settings and machine.
 * @module
 */
import type { Client } from '@temporalio/client';
import { type Bare, startBare } from './support/bare.ts';
import { cpuClock, cpuPer } from './support/cpu.ts';
import { evaluate, inMs, perSecond, table, whole } from './support/figures.ts';
import { type BenchInstallation, startInstallation } from './support/installation.ts';
import { type Call, type Load, startLoad } from './support/load.ts';
import { measuredSeconds, runBench, say } from './support/run.ts';
import { idOf, seedAgents, settle } from './support/seed.ts';

const agents = 200;
const connections = 8;
const worstMs = 60;
const shareOfBare = 0.9;

const declaration = (number: number): Call => ({
  path: '/intents',
  body: JSON.stringify({
    agentId: idOf('ag', 1 + (number % agents)),
    purpose: 'paper and pens for the office',
    expectedAmountEuros: 12.5,
    expectedMerchant: 'Sandbox Shop',
  }),
});

type Lifecycles = {
  readonly declared: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly declaredPerSecond: number;
  readonly cpu: string;
};

/** From the first declaration until the last workflow has read its row and waits. */
async function lifecycles(
  { url, headers, pids }: BenchInstallation,
  { load, client }: { load: Load; client: Client },
  count: number,
): Promise<Lifecycles> {
  const calls = Array.from({ length: count }, (_, i) => declaration(i));
  const before = cpuClock(pids);
  const start = performance.now();
  const job = {
    kind: 'posts',
    url,
    headers,
    connections,
    calls,
    seconds: measuredSeconds,
    keepsAnswers: true,
  } as const;
  const loaded = await load(job);
  const ids = loaded.answers.map((answer) => (JSON.parse(answer) as { id: string }).id);
  for (const id of ids.slice(-lastOnes)) await waitingFor(client, `intent/${id}`);
  const seconds = (performance.now() - start) / 1_000;
  const cpu = cpuPer(loaded.count, before, cpuClock(pids));
  for (let i = 0; i < ids.length; i += Math.ceil(ids.length / samples)) await waitingFor(client, `intent/${ids[i]}`);
  const declaredPerSecond = perSecond(loaded.count, loaded.seconds);
  return { declared: loaded.count, seconds, p50Ms: loaded.p50Ms, p99Ms: loaded.p99Ms, declaredPerSecond, cpu };
}

/** They are taken up in the order of their start, or nearly so. */
const lastOnes = 40;
const samples = 50;
const givenUpAfterMs = 120_000;

/** Its first step is behind it: the timer of its deadline runs. */
async function waitingFor(client: Client, workflowId: string): Promise<void> {
  const until = performance.now() + givenUpAfterMs;
  while (performance.now() < until) {
    const isWaiting = await client.workflow
      .getHandle(workflowId)
      .fetchHistory()
      .then(({ events }) => (events ?? []).some(({ timerStartedEventAttributes: timer }) => timer != null))
      .catch(() => false); // Not started yet.
    if (isWaiting) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${workflowId} did not get going`);
}

async function bareRate(bare: Bare, seconds: number, pids: Readonly<Record<string, number>>) {
  await bare.run(2, connections);
  const before = cpuClock(pids);
  const start = performance.now();
  const count = await bare.run(seconds, 4 * connections);
  return { rate: perSecond(count, (performance.now() - start) / 1_000), cpu: cpuPer(count, before, cpuClock(pids)) };
}

await runBench('intents', async (atEnd) => {
  const installation = await startInstallation(atEnd);
  const { sql, ownerId, temporalAddress, pids } = installation;
  await seedAgents(sql, ownerId, agents);
  await settle(sql);
  const { load } = await startLoad(atEnd);
  const bare = await startBare(temporalAddress, atEnd);
  const { temporal = 0, ...own } = pids;
  const first = await bareRate(bare, measuredSeconds / 4, { temporal, worker: bare.pid });
  await lifecycles({ ...installation, pids: {} }, { load, client: bare.client }, 600);
  // As many as the server gets going in the time, so that none is left over at its end.
  const count = Math.max(200, Math.round(first.rate * measuredSeconds));
  say(`${whole(count)} intents`);
  const intents = await lifecycles(
    { ...installation, pids: { ...own, temporal } },
    { load, client: bare.client },
    count,
  );
  const second = await bareRate(bare, measuredSeconds / 4, { temporal, worker: bare.pid });
  const floor = (first.rate + second.rate) / 2;
  const rate = perSecond(intents.declared, intents.seconds);
  table(
    [`${whole(intents.declared)} intents declared at c=${connections}`, 'rate', 'p50', 'p99'],
    [
      ['POST /intents', `${whole(intents.declaredPerSecond)}/s`, inMs(intents.p50Ms), inMs(intents.p99Ms)],
      ['lifecycles that got going', `${whole(rate)}/s`, '', ''],
      ['bare workflows, before and after', `${whole(first.rate)}/s, ${whole(second.rate)}/s`, '', ''],
    ],
  );
  say(`CPU per intent: ${intents.cpu}`);
  say(`CPU per bare workflow: ${second.cpu}`);
  return evaluate([
    {
      what: 'POST /intents p99',
      found: inMs(intents.p99Ms),
      target: `≤ ${worstMs} ms`,
      isMet: intents.p99Ms <= worstMs,
    },
    {
      what: 'lifecycles against bare workflows',
      found: (rate / floor).toFixed(2),
      target: `≥ ${shareOfBare}`,
      isMet: rate >= shareOfBare * floor,
    },
  ]);
});
