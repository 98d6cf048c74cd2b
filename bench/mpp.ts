/**
 * How long a machine payment takes, from `POST /v1/mpp/pay` to its answer: challenge, decision, minting, presentation,
 * the merchant's charge by the network and the receipt; beside a bare workflow with as many activities, two of which
 * request the same merchant. A second floor, without a target, also makes as many durable commits.
 * @module
 */

import type { Steps } from './floor/bare-workflows.ts';
import { type Bare, startBare } from './support/bare.ts';
import { cpuClock, cpuPer } from './support/cpu.ts';
import { evaluate, inMs, percentile, perSecond, table } from './support/figures.ts';
import { type BenchInstallation, startInstallation } from './support/installation.ts';
import { type Call, type Load, startLoad } from './support/load.ts';
import { startProgram } from './support/program.ts';
import { measuredSeconds, runBench, say } from './support/run.ts';
import { cardRefOf, idOf, seedAgents, settle } from './support/seed.ts';

const agents = 200;
const mostTimesBare = 1.5;
/**
 * Both sides are warmed up with as many at once for as long as they are measured afterwards: a pool that has not been full
 * plans its statements, and Node compiles, during the measurement otherwise. The warm-up's own figures are printed.
 */
const mostAtOnce = 16;
/** More than two cores pay in the time. */
const paymentsPerSecond = 60;
/**
 * A payment waits for six, one after the other: of its beginning, the reservation, the minted token, the claim of the
 * sending, the decision and the settlement. The second floor makes them in its two activities, of one row each.
 */
const commitsOfSteps = { local: 0, regular: 3 };

/** The processor mints tokens only for cards that it knows. */
async function issueCards({ sql, sandboxUrl }: BenchInstallation): Promise<void> {
  for (let number = 1; number <= agents; number++) {
    const cardId = idOf('ca', number);
    const answer = await fetch(`${sandboxUrl}/processor/cards`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': cardId },
      body: JSON.stringify({ cardId, usage: 'multi' }),
    });
    if (!answer.ok) throw new Error(`the processor issues no card: ${answer.status} ${await answer.text()}`);
    const { cardRef } = (await answer.json()) as { cardRef: string };
    await sql('update cards set card_ref = $1 where card_ref = $2', [cardRef, cardRefOf(number)]);
  }
}

/** Approved intents, of all agents in turn; answers the request that pays for each. */
async function orders({ sql, ownerId }: BenchInstallation, count: number, merchantUrl: string): Promise<Call[]> {
  await sql(
    `insert into intents (id, owner_id, agent_id, purpose, expected_amount_cents, expected_merchant, card_id, status,
       expires_at, policy_check, is_auto_approved, approved_by, approved_at, request_id, created_at, updated_at)
     select 'int_' || lpad(n::text, 26, '0'), $1, 'ag_' || lpad((1 + n % $2)::text, 26, '0'), 'a report', 125,
       'bench-merchant', 'ca_' || lpad((1 + n % $2)::text, 26, '0'), 'approved', now() + interval '1 day',
       '{"allowed": true, "requiresApproval": false, "reason": null}', true, 'policy', now(), 'bench', now(), now()
     from generate_series(1, $3::int) n`,
    [ownerId, agents, count],
  );
  const cards = await sql<{ id: string; card_ref: string }>('select id, card_ref from cards');
  const refs = new Map(cards.map(({ id, card_ref }) => [id, card_ref]));
  return Array.from({ length: count }, (_, i) => {
    const cardId = idOf('ca', 1 + ((i + 1) % agents));
    const url = `${merchantUrl}/paid/${refs.get(cardId)}`;
    return { path: '/v1/mpp/pay', body: JSON.stringify({ url, intentId: idOf('int', i + 1), cardId }) };
  });
}

type Sides = { readonly installation: BenchInstallation; readonly load: Load; readonly bare: Bare };

/** What the server did for one run. */
type Counts = Pick<Steps, 'local' | 'regular'> & {
  readonly tasks: number;
  readonly stages: number;
  readonly events: number;
};

async function countsOf({ bare }: Sides, workflowId: string): Promise<Counts> {
  const handle = bare.client.workflow.getHandle(workflowId);
  await handle.result(); // The caller of a payment is answered before its run has ended.
  const { events } = await handle.fetchHistory();
  const found = events ?? [];
  return {
    local: found.filter(({ markerRecordedEventAttributes: one }) => one?.markerName === 'core_local_activity').length,
    regular: found.filter(({ activityTaskScheduledEventAttributes: one }) => one != null).length,
    tasks: found.filter(({ workflowTaskCompletedEventAttributes: one }) => one != null).length,
    stages: found.filter(({ upsertWorkflowSearchAttributesEventAttributes: one }) => one != null).length,
    events: found.length,
  };
}

const runOf = (answer: string): string => `mpp-payment/${(JSON.parse(answer) as { payment_id: string }).payment_id}`;

const inWords = ({ local, regular, tasks, stages, events }: Counts): string =>
  `${local} local and ${regular} regular activities in ${tasks} workflow tasks, ${stages} changes of the stage, ${events} events`;

/** Of the whole installation, so those of its background loops are among them. */
async function commitsOf({ sql }: BenchInstallation): Promise<number> {
  const [row] = await sql<{ commits: number }>(
    'select xact_commit::float8 as commits from pg_stat_database where datname = current_database()',
  );
  return row?.commits ?? Number.NaN;
}

async function pays({ installation, load }: Sides, calls: readonly Call[], connections: number, seconds: number) {
  const { url, headers, pids } = installation;
  const before = cpuClock(pids);
  const commitsBefore = await commitsOf(installation);
  const loaded = await load({ kind: 'posts', url, headers, connections, calls, seconds, keepsAnswers: true });
  const unpaid = loaded.answers.find((answer) => !answer.includes('"status":"paid"'));
  if (unpaid !== undefined) throw new Error(`not paid: ${unpaid}`);
  if (loaded.count >= calls.length) throw new Error('there were too few intents for the time');
  return {
    ...loaded,
    rate: perSecond(loaded.count, loaded.seconds),
    cpu: cpuPer(loaded.count, before, cpuClock(pids)),
    commits: ((await commitsOf(installation)) - commitsBefore) / loaded.count,
  };
}

type Measured = {
  readonly ours: Awaited<ReturnType<typeof pays>>;
  readonly floor: readonly number[];
  readonly floorCpu: string;
  /** With the commits. */
  readonly committing: readonly number[];
};

/** The p50 one at a time, the p99 of eight at once. */
function compared(measured: Measured | undefined, share: 0.5 | 0.99) {
  const { ours, floor = [] } = measured ?? {};
  const times = ((share === 0.5 ? ours?.p50Ms : ours?.p99Ms) ?? Number.NaN) / percentile(floor, share);
  return {
    what: `${share === 0.5 ? 'p50 of a payment at c=1' : 'p99 of a payment at c=8'}, against the bare workflow`,
    found: times.toFixed(2),
    target: `≤ ${mostTimesBare}`,
    isMet: times <= mostTimesBare,
  };
}

await runBench('machine payments', async (atEnd) => {
  const merchant = await startProgram('bench/floor/paid-merchant.ts', {}, atEnd);
  const installation = await startInstallation(atEnd, { mode: 'sandbox', allowedOrigins: [merchant.url] });
  merchant.child.send({ apiUrl: installation.url, networkKey: installation.networkKey });
  await seedAgents(installation.sql, installation.ownerId, agents);
  await issueCards(installation);
  const seconds = measuredSeconds / 3;
  const each = Math.ceil(paymentsPerSecond * seconds);
  const left = await orders(installation, 5 * each, merchant.url);
  await settle(installation.sql);
  const next = (): Call[] => left.splice(0, each);
  const { load } = await startLoad(atEnd);
  const bare = await startBare(installation.temporalAddress, atEnd, installation.databaseUrl);
  const sides = { installation, load, bare };
  const cold = await pays(sides, next(), mostAtOnce, seconds);
  say(
    `the first ${cold.count} payments, ${mostAtOnce} at once, from a cold start: p50 ${inMs(cold.p50Ms)}, p99 ${inMs(cold.p99Ms)}; CPU ${cold.cpu}`,
  );
  const ofPayment = await countsOf(sides, runOf(cold.answers.at(-1) ?? ''));
  const { local, regular } = ofPayment;
  const steps = { local, regular, url: `${merchant.url}/free`, commits: { local: 0, regular: 0 } };
  const committing = { ...steps, commits: commitsOfSteps };
  say(`a payment: ${inWords(ofPayment)}`);
  say(`the bare workflow: ${inWords(await countsOf(sides, await bare.runStepsOnce(steps)))}`);
  await bare.runSteps(steps, seconds / 2, mostAtOnce);
  await bare.runSteps(committing, seconds / 2, mostAtOnce);
  const found = new Map<number, Measured>();
  for (const atOnce of [1, 8, mostAtOnce]) {
    const before = await bare.runSteps(steps, seconds / 2, atOnce);
    const ours = await pays(sides, next(), atOnce, seconds);
    const pids = { ...installation.pids, worker: bare.pid };
    const cpuBefore = cpuClock(pids);
    const after = await bare.runSteps(steps, seconds / 2, atOnce);
    const floorCpu = cpuPer(after.length, cpuBefore, cpuClock(pids));
    const withCommits = await bare.runSteps(committing, seconds / 2, atOnce);
    found.set(atOnce, { ours, floor: [...before, ...after], floorCpu, committing: withCommits });
  }
  table(
    [
      `a payment, and a bare workflow with ${steps.local} local and ${steps.regular} regular activities`,
      'payments',
      'p50',
      'p99',
      'bare',
      'p50',
      'p99',
      'with commits',
      'p50',
      'p99',
    ],
    [...found].map(([atOnce, { ours, floor, committing: withCommits }]) => [
      `c=${atOnce}`,
      `${ours.rate.toFixed(1)}/s`,
      inMs(ours.p50Ms),
      inMs(ours.p99Ms),
      `${perSecond(floor.length, seconds).toFixed(1)}/s`,
      inMs(percentile(floor, 0.5)),
      inMs(percentile(floor, 0.99)),
      `${perSecond(withCommits.length, seconds / 2).toFixed(1)}/s`,
      inMs(percentile(withCommits, 0.5)),
      inMs(percentile(withCommits, 0.99)),
    ]),
  );
  for (const [atOnce, { ours, floorCpu }] of found) {
    say(`per payment at c=${atOnce}: CPU ${ours.cpu}; ${ours.commits.toFixed(0)} commits in PostgreSQL`);
    say(`per bare workflow at c=${atOnce}: CPU ${floorCpu}`);
  }
  return evaluate([compared(found.get(1), 0.5), compared(found.get(8), 0.99)]);
});
