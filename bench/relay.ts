/**
 * How long a wake takes to reach its run while one owner has 10,000 due runs to start, the card processor is away with
 * 200 frozen cards, and 500 runs are overdue; and whether health calls the relay `ok` all the while.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { evaluate, inMs, percentile, table } from './support/figures.ts';
import { type BenchInstallation, startInstallation } from './support/installation.ts';
import { measuredSeconds, runBench, say } from './support/run.ts';
import { idOf, seedAgents } from './support/seed.ts';

const load = { due: 10_000, frozenCards: 200, overdue: 500 };
const ownAgents = 20;
const mostMs = 2_000;

/** Live mode has no simulated outside world: nothing listens at the processor's address. */
async function seedLoad({ sql, ownerId }: BenchInstallation): Promise<void> {
  await seedAgents(sql, ownerId, ownAgents + load.frozenCards, { auto_approve_limit_cents: 0 });
  const frozen = Array.from({ length: load.frozenCards }, (_, n) => idOf('ca', ownAgents + 1 + n));
  await sql(`update cards set owner_id = 'own_cards', status = 'frozen', frozen_by = 'card' where id = any($1)`, [
    frozen,
  ]);
  await sql(`delete from workflow_runs where subject_id = any($1)`, [frozen]);
  await sql(
    `insert into workflow_runs (id, workflow, subject_id, owner_id, stage, due_at, wanted_wake, created_at)
     select 'card/' || id, 'cardLifecycle', id, 'own_cards', 'frozen', now(), true, now() from unnest($1::text[]) id`,
    [frozen],
  );
  await sql(
    `insert into workflow_runs (id, workflow, subject_id, owner_id, agent_id, stage, created_at)
     select 'card/' || id, 'cardLifecycle', id, owner_id, agent_id, 'active', now() from cards where owner_id = $1
     on conflict (id) do nothing`,
    [ownerId],
  );
  // Runs without a row: each fails at its first step, and stays due.
  const missing = `insert into workflow_runs (id, workflow, subject_id, owner_id, stage, due_at, started_epoch, created_at)
    select 'intent/int_' || $1 || n, 'intentLifecycle', 'int_' || $1 || n, 'own_' || $1, 'approved',
      now() - interval '3 minutes', $3, now() from generate_series(1, $2::int) n`;
  const [epoch] = await sql<{ epoch: string }>(
    'select started_epoch as epoch from workflow_runs where started_epoch is not null limit 1',
  );
  await sql(missing, ['overdue', load.overdue, epoch?.epoch ?? 'none']);
  await sql(missing, ['dead', load.due, null]);
}

type Wake = { readonly kind: string; readonly ms: number };

/** From the change over HTTP until the relay has noted that the run has its wake. */
async function measureWakes({ url, headers, sql }: BenchInstallation, number: number): Promise<Wake[]> {
  const post = async (path: string, body: object = {}): Promise<{ id: string }> => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { id: string };
  };
  const agentId = idOf('ag', 1 + (number % ownAgents));
  const cardId = idOf('ca', 1 + (number % ownAgents));
  const { id: intentId } = await post('/intents', { agentId, purpose: 'paper and pens', expectedAmountEuros: 12.5 });
  const wakeOf = async (kind: string, workflowId: string, path: string): Promise<Wake> => {
    await post(path);
    const start = performance.now();
    for (;;) {
      const [waiting] = await sql(
        'select 1 from workflow_runs where id = $1 and (wanted_wake or waking_until is not null)',
        [workflowId],
      );
      const ms = performance.now() - start;
      if (waiting === undefined || ms > 120_000) return { kind, ms };
      await sleep(20);
    }
  };
  return [
    await wakeOf('intent cancelled', `intent/${intentId}`, `/intents/${intentId}/cancel`),
    await wakeOf('card changed', `card/${cardId}`, `/cards/${cardId}/freeze`),
    await wakeOf('card changed', `card/${cardId}`, `/cards/${cardId}/unfreeze`),
  ];
}

async function relayStates({ url }: BenchInstallation, until: () => boolean): Promise<string[]> {
  const states: string[] = [];
  while (!until()) {
    states.push(await relayState(url));
    await sleep(1_000);
  }
  return states;
}

async function relayState(url: string): Promise<string> {
  try {
    const answer = (await (await fetch(`${url}/health`)).json()) as { checks: { relay: string } };
    return answer.checks.relay;
  } catch {
    return 'no answer';
  }
}

await runBench('relay', async (atEnd) => {
  const installation = await startInstallation(atEnd);
  await sleep(3_000); // The loops have begun.
  await seedLoad(installation);
  const seconds = Math.max(90, measuredSeconds);
  const end = performance.now() + seconds * 1_000;
  const isOver = () => performance.now() > end;
  const watching = relayStates(installation, isOver);
  const wakes: Wake[] = [];
  for (let number = 0; !isOver() && number < 2 * ownAgents; number++) {
    const begun = performance.now();
    wakes.push(...(await measureWakes(installation, number)));
    await sleep(Math.max(0, (seconds * 1_000) / (2 * ownAgents) - (performance.now() - begun)));
  }
  const states = await watching;
  const [left] = await installation.sql<{ unstarted: number; wakes: number }>(
    `select count(*) filter (where is_open and started_epoch is null)::int as unstarted,
       count(*) filter (where wanted_wake or waking_until is not null)::int as wakes from workflow_runs`,
  );
  say(`after ${seconds} s: ${left?.unstarted} of ${load.due} not started yet, ${left?.wakes} wakes under way`);
  const kinds = ['intent cancelled', 'card changed'];
  const lengths = kinds.map((kind) => wakes.filter((wake) => wake.kind === kind).map(({ ms }) => ms));
  table(
    ['wake of another owner', 'wakes', 'p50', 'p95', 'most'],
    kinds.map((kind, i) => {
      const ms = lengths[i] ?? [];
      return [kind, String(ms.length), inMs(percentile(ms, 0.5)), inMs(percentile(ms, 0.95)), inMs(Math.max(...ms))];
    }),
  );
  const notOk = states.filter((state) => state !== 'ok').length;
  return evaluate([
    ...kinds.map((what, i) => {
      const most = Math.max(...(lengths[i] ?? []));
      return { what, found: inMs(most), target: `at most ${inMs(mostMs)}`, isMet: most <= mostMs };
    }),
    {
      what: 'health.relay',
      found: `${states.length - notOk} of ${states.length} times ok`,
      target: 'always ok',
      isMet: notOk === 0,
    },
  ]);
});
