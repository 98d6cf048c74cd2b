/**
 * Fifty purchases through two APIs and two workers, while these, the sandbox, Temporal and PostgreSQL are killed at
 * seeded random moments; afterwards everything that was answered is there, once, and the book agrees. Reservations of
 * a dead API end by their lease, which is short here. The seed is printed; TEST_SEED repeats it.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { sendTo } from '../../src/client/client.ts';
import { isAlive } from '../../src/supervisor/pids.ts';
import { type Random, randomFrom } from '../load/random.ts';
import { type ChildName, type Installation, startInstallation } from '../support/installation.ts';
import { type More, type SecondName, startMore } from '../support/more-processes.ts';
import { type Answer, type Call, callBy, untilAnswered } from '../support/plain-calls.ts';
import { seed } from '../support/seed.ts';
import { eventually, type Owner } from '../support/world.ts';

const purchases = 50;
const leastPaid = 40;
const lanes = 10;
const leaseSeconds = 5;
type Victim = ChildName | SecondName;
/** Not more of one: the supervisor waits longer and longer for what keeps dying. */
const victims: readonly Victim[] = [
  ...(['api', 'api', 'api-2', 'api-2', 'worker', 'worker', 'worker-2'] as const),
  ...(['sandbox', 'sandbox', 'temporal', 'postgres'] as const),
];
const fundedEuros = 10_000;

let site: Installation;
let more: More;
let stopMore: More['stop'] = async () => undefined;
let owner: Owner;
/** By the first API. */
let call: Call;
/** By either. */
let calls: readonly Call[];
let sandbox: Call;
const agents: string[] = [];

beforeAll(async () => {
  site = await startInstallation({
    BURSAR_IDEMPOTENCY_LEASE_SECONDS: String(leaseSeconds),
    // A slow machine is no reason for the network to decide itself.
    SANDBOX_DECISION_TIMEOUT_MS: '10000',
  });
  more = await startMore(site);
  stopMore = more.stop;
  owner = await site.owner();
  call = callBy(owner.send);
  calls = [call, callBy(sendTo(more.apiUrl, owner.key))];
  sandbox = callBy(({ method, path, headers, body }) =>
    fetch(`${site.sandboxUrl}${path}`, { method, headers, ...(body === undefined ? {} : { body }) }),
  );
  await call('POST', '/fund', { amountEuros: fundedEuros });
  await call('POST', '/webhooks', { url: `${site.sandboxUrl}/receiver/${owner.ownerId}`, events: ['*'] });
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    const { body } = await call('POST', '/agents', { name });
    await call('PATCH', `/policies/agent/${body.id}`, { dailyLimitEuros: 100_000, monthlyLimitEuros: 100_000 });
    agents.push(body.id);
  }
}, 300_000);
afterAll(async () => {
  await stopMore();
  await site?.stop();
}, 60_000);

type Purchase = {
  readonly name: string;
  readonly agentId: string;
  readonly cents: number;
  readonly intent: Answer;
  readonly execution: Answer;
};

type Ended = Purchase & { readonly end: End };

test('whatever is killed, every purchase ends right, once', async () => {
  process.stderr.write(`crash test: seed ${seed}\n`);
  const clean = [await purchase('clean-auto', 1_000), await purchase('clean-asked', 6_000)] as const;
  for (const { execution } of clean) expect(execution.body).toMatchObject({ success: true });

  const from = performance.now();
  const killer = startKiller();
  const clock = hurryClock();
  const done = await inLanes(
    Array.from({ length: purchases }, (_, index) => () => purchase(`p${index}`, amountOf(index), 2_000)),
  );
  const kills = await killer.stop();
  clearInterval(clock);
  const boughtMs = performance.now() - from;
  await site.isWell();
  await allIsQuiet();
  const ended = await Promise.all(done.map(async (one) => ({ ...one, end: await endOf(one) })));
  report({ kills, boughtMs, quietMs: performance.now() - from - boughtMs, ended });
  expect(kills).toEqual(countsOf(victims));
  expect(countsOf(ended.map(({ end }) => end)).paid).toBeGreaterThanOrEqual(leastPaid);

  const all = [...clean.map((one) => ({ ...one, end: 'paid' }) as const), ...ended];
  await everyAnswerIsFound(all);
  await everyKeyHadOneEffect(all);
  await theBookAgrees(all);
  await everyOpenRowHasItsRun();
  await noEventIsMissing(clean, ended);
}, 300_000);

/** Every third one is above what the policy approves alone. */
const amountOf = (index: number): number => (index % 3 === 0 ? 5_100 + index : 300 + 7 * index);

/** Slow enough that every kill finds purchases at each of their steps. */
async function purchase(name: string, cents: number, mostPauseMs = 0): Promise<Purchase> {
  const random = randomFrom(seed + cents);
  const pause = () => sleep(random.below(mostPauseMs + 1));
  const ask = (...request: Parameters<Call>) => balanced(random, ...request);
  const agentId = random.pick(agents);
  await pause();
  const declaration = { agentId, purpose: name, expectedAmountEuros: cents / 100 };
  const intent = await untilAnswered(ask('POST', '/intents', declaration, `${name}-declare`), patienceMs);
  await pause();
  if (intent.body.status === 'pending_approval') {
    const path = `/intents/${intent.body.id}/approve`;
    const approval = await untilAnswered(ask('POST', path, undefined, `${name}-approve`), patienceMs);
    expect(approval).toMatchObject({ status: 200, body: { status: 'approved' } });
  }
  const order = {
    intentId: intent.body.id,
    targetUrl: `${site.sandboxUrl}/shops/sandbox-shop?amountCents=${cents}`,
  };
  await pause();
  const execution = await executed((nth) => ask('POST', '/checkout/execute', order, `${name}-execute-${nth}`));
  return { name, agentId, cents, intent, execution };
}

const patienceMs = 120_000;

/** As a balancer does: each attempt goes to the next API. */
function balanced(random: Random, ...request: Parameters<Call>): () => Promise<Answer> {
  let next = random.below(calls.length);
  return () => (calls[next++ % calls.length] as Call)(...request);
}

const mostOrders = 12;

/**
 * A shop that cannot be reached, or took no payment, is an answer: nothing is held, and the client orders again, as it
 * would at a real one. The network declines while it does not reach the first API.
 */
async function executed(order: (nth: number) => () => Promise<Answer>): Promise<Answer> {
  for (let nth = 1; ; nth++) {
    const answer = await untilReached(order(nth));
    const isLeft = answer.body.success === false && /took no payment/.test(answer.body.reason);
    if (!isLeft || nth === mostOrders) return answer;
    await isUp('api');
  }
}

async function untilReached(execute: () => Promise<Answer>): Promise<Answer> {
  const until = Date.now() + patienceMs;
  for (;;) {
    const answer = await untilAnswered(execute, patienceMs);
    const isShopAway = answer.status === 400 && /did not answer/.test(answer.body.error);
    if (!isShopAway || Date.now() > until) return answer;
    await sleep(300);
  }
}

async function inLanes<T>(work: (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  const open = [...work.entries()];
  const lane = async () => {
    for (let next = open.shift(); next !== undefined; next = open.shift()) results[next[0]] = await next[1]();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

/** A shop that did not answer is asked again after minutes of business time, which are seconds here. */
const hurryClock = () => setInterval(() => void site.advance(5_000).catch(() => undefined), 1_000);

/** Kills one after the other, each at a random moment of its life, evenly over the purchases. */
function startKiller() {
  const random = randomFrom(seed);
  const left = [...victims];
  const kills: Victim[] = [];
  const running = (async () => {
    while (left.length > 0) {
      const [name] = left.splice(random.below(left.length), 1) as [Victim];
      await isUp(name);
      await sleep(random.below(1_500));
      await (isSecond(name) ? more.kill(name) : site.kill(name));
      kills.push(name);
    }
  })();
  return {
    stop: async () => {
      await running;
      return countsOf(kills);
    },
  };
}

const isSecond = (name: Victim): name is SecondName => name.endsWith('-2');

async function isUp(name: Victim): Promise<void> {
  const url = { api: site.apiUrl, 'api-2': more.apiUrl, sandbox: `${site.sandboxUrl}/receiver/unknown` }[
    name as string
  ];
  const isThere = async () => isAlive(isSecond(name) ? more.child(name) : await site.child(name));
  const answers = async () => url === undefined || (await fetch(url).catch(() => undefined))?.ok;
  await eventually(async () => (await isThere()) && (await answers()), Boolean, 120_000);
}

/** Nothing is held, unsealed, undelivered or under way; the clock is moved for retries of deliveries and payments. */
async function allIsQuiet(): Promise<void> {
  const counts = async () =>
    (
      await site.sql<Record<string, number>>(
        `select (select count(*)::int from transactions where held_cents > 0) as held,
           (select count(*)::int from checkouts where status in ('open', 'offered', 'paying')) as checkouts,
           (select count(*)::int from webhook_deliveries where status in ('pending', 'delivering')) as deliveries,
           (select count(*)::int from workflow_runs where is_open and workflow <> 'cardLifecycle'
              and subject_id not in (select id from intents where status = 'approved')) as processes,
           (select count(*)::int from workflow_runs where wanted_wake) as wakes,
           (select count(*)::int from unsealed_journals) as unsealed`,
      )
    )[0] as Record<string, number>;
  await eventually(
    async () => {
      const left = await counts();
      if (left.deliveries !== 0) await site.advance(61_000);
      await sleep(500);
      return left;
    },
    (left) => Object.values(left).every((count) => count === 0),
    120_000,
  );
  // The network notes an acknowledgement a moment after Bursar has written it.
  await eventually(
    async () => (await sandbox('GET', '/network/messages?state=queued')).body.messages,
    (queued) => queued.length === 0,
  );
}

function report(figures: { kills: object; boughtMs: number; quietMs: number; ended: readonly Ended[] }): void {
  const outcomes = countsOf(figures.ended.map(({ end }) => end));
  const { kills, boughtMs, quietMs } = figures;
  const reasons = countsOf(
    figures.ended.flatMap(({ end, execution }) =>
      end === 'paid' ? [] : [String(execution.body.reason ?? JSON.stringify(execution.body))],
    ),
  );
  process.stderr.write(`crash test: not paid ${JSON.stringify(reasons)}\n`);
  process.stderr.write(
    `crash test: kills ${JSON.stringify(kills)}, bought in ${Math.round(boughtMs)} ms, quiet after ${Math.round(quietMs)} ms more, ${JSON.stringify(outcomes)}\n`,
  );
}

/**
 * How it ended. A success may be taken back: killed before its approval reached the network, the network has declined
 * in Bursar's stead and reverses what was held; the intent may be paid again then.
 */
type End = 'paid' | 'taken back' | 'not paid';

async function endOf({ execution }: Purchase): Promise<End> {
  if (!execution.body.success) return 'not paid';
  const { status } = (await call('GET', `/transactions/${execution.body.transactionId}`)).body;
  return status === 'reversed' ? 'taken back' : 'paid';
}

const intentAfter = { paid: ['completed'], 'taken back': ['approved'], 'not paid': ['failed', 'approved'] } as const;

/** Also: the same requests again are answered the same. */
async function everyAnswerIsFound(all: readonly Ended[]): Promise<void> {
  for (const { name, cents, agentId, intent, execution, end } of all) {
    expect(intent).toMatchObject({ status: 201, body: { purpose: name, expectedAmountEuros: cents / 100, agentId } });
    expect(execution).toMatchObject({ status: 200, body: { intentId: intent.body.id } });
    const found = (await call('GET', `/intents/${intent.body.id}`)).body;
    expect(found).toMatchObject({ purpose: name, expectedAmountEuros: cents / 100, agentId });
    const declaration = { agentId, purpose: name, expectedAmountEuros: cents / 100 };
    expect((await call('POST', '/intents', declaration, `${name}-declare`)).body).toEqual(intent.body);
    expect(intentAfter[end]).toContain(found.status);
    if (end !== 'paid') continue;
    expect(found).toMatchObject({ transactionId: execution.body.transactionId });
    const transaction = (await call('GET', `/transactions/${execution.body.transactionId}`)).body;
    expect(transaction).toMatchObject({ status: 'completed', amountEuros: cents / 100, intentId: intent.body.id });
  }
}

async function everyKeyHadOneEffect(all: readonly Ended[]): Promise<void> {
  const intents = await site.sql<{ purpose: string }>('select purpose from intents where owner_id = $1', [
    owner.ownerId,
  ]);
  expect(sorted(intents.map(({ purpose }) => purpose))).toEqual(sorted(all.map(({ name }) => name)));
  const made = await site.sql<{ id: string; status: string; intent: string; kinds: string[] }>(
    `select t.id, t.status, t.intent_id as intent, coalesce((select array_agg(j.kind order by j.kind) from journals j
        where j.reference_id = t.id), '{}') as kinds
     from transactions t where t.owner_id = $1`,
    [owner.ownerId],
  );
  for (const { intent, execution, end } of all) {
    const own = made.filter((transaction) => transaction.intent === intent.body.id);
    const completed = own.filter(({ status }) => status === 'completed');
    expect(completed.map(({ id }) => id)).toEqual(end === 'paid' ? [execution.body.transactionId] : []);
    for (const { kinds } of completed) expect(kinds).toEqual(['authorization', 'clearing']);
    for (const { status, kinds } of own.filter((transaction) => !completed.includes(transaction)))
      expect(kinds).toEqual(status === 'reversed' ? ['authorization', 'reversal'] : []);
  }
}

async function theBookAgrees(all: readonly Ended[]): Promise<void> {
  const book = (await call('GET', '/ledger/verify?full=true')).body;
  expect(book).toMatchObject({ balanced: true, differences: [], unsealed: 0 });
  const spent = all.reduce((sum, { cents, end }) => sum + (end === 'paid' ? cents : 0), 0);
  const [wallet] = (await call('GET', '/wallets')).body.data;
  const balance = (await call('GET', `/wallets/${wallet.id}/balance`)).body;
  expect(Math.round(balance.totalEuros * 100)).toBe(fundedEuros * 100 - spent);
  const [held] = await site.sql<{ ledger: number; open: number }>(
    `select (select coalesce(sum(balance_cents), 0)::int from ledger_accounts where name like '%:held') as ledger,
       (select coalesce(sum(held_cents), 0)::int from transactions) as open`,
  );
  expect(held?.ledger).toBe(held?.open);
}

/** In PostgreSQL and in Temporal: what is open runs, and nothing runs that is not. */
async function everyOpenRowHasItsRun(): Promise<void> {
  const without = await site.sql(
    `select 'intent' as noun, id from intents i where status in ('pending_approval', 'approved')
       and not exists (select from workflow_runs p where p.id = 'intent/' || i.id and p.is_open)
     union all select 'card', id from cards c where status <> 'closed'
       and not exists (select from workflow_runs p where p.id = 'card/' || c.id and p.is_open)
     union all select 'checkout', id from checkouts c where status in ('open', 'offered', 'paying')
       and not exists (select from workflow_runs p where p.id = 'checkout/' || c.id and p.is_open)`,
  );
  expect(without).toEqual([]);
  const open = await site.sql<{ id: string; epoch: string | null }>(
    'select id, started_epoch as epoch from workflow_runs where is_open',
  );
  const connection = await Connection.connect({ address: site.ready.temporalAddress });
  const client = new Client({ connection, namespace: site.ready.temporalNamespace });
  const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace: client.options.namespace });
  for (const { id, epoch } of open) {
    expect([id, epoch]).toEqual([id, namespaceInfo?.id]);
    expect([id, (await client.workflow.getHandle(id).describe()).status.name]).toEqual([id, 'RUNNING']);
  }
  const running = async () => {
    const ids: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query: `ExecutionStatus = 'Running'` }))
      ids.push(workflowId);
    return sorted(ids);
  };
  const expected = sorted(open.map(({ id }) => id));
  expect(await eventually(running, (ids) => ids.length === expected.length)).toEqual(expected);
  await connection.close();
}

/** What a purchase without any kill says is what each one says, no more and no less; and all of it was delivered. */
async function noEventIsMissing([auto, asked]: readonly [Purchase, Purchase], done: readonly Ended[]): Promise<void> {
  const namesOf = async ({ intent, execution }: Purchase): Promise<string[]> =>
    (
      await site.sql<{ name: string }>('select name from events where subject_id = any($1::text[]) order by name', [
        [intent.body.id, execution.body.transactionId ?? ''],
      ])
    ).map(({ name }) => name);
  const expected = { auto: await namesOf(auto), asked: await namesOf(asked) };
  expect(expected.auto).toEqual(expect.arrayContaining(['intent.created', 'intent.matched', 'transaction.completed']));
  for (const one of done.filter(({ end }) => end === 'paid')) {
    const wanted = one.intent.body.status === 'approved' ? expected.auto : expected.asked;
    expect([one.name, await namesOf(one)]).toEqual([one.name, wanted]);
  }
  const undelivered = await site.sql(
    `select e.name, d.status from events e left join webhook_deliveries d on d.event_id = e.id
     where e.owner_id = $1 and e.seq > (select seq from events where name = 'webhook.created' and owner_id = $1)
       and d.status is distinct from 'succeeded'`,
    [owner.ownerId],
  );
  expect(undelivered).toEqual([]);
  const heard = (await sandbox('GET', `/receiver/${owner.ownerId}`)).body.deliveries as {
    headers: Record<string, string>;
    answered: number;
  }[];
  const taken = new Set(heard.filter(({ answered }) => answered === 200).map(({ headers }) => headers['webhook-id']));
  const sent = await site.sql<{ id: string }>('select id from webhook_deliveries where owner_id = $1', [owner.ownerId]);
  expect(sent.filter(({ id }) => !taken.has(id))).toEqual([]);
}

function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

const sorted = (texts: readonly string[]): string[] => texts.toSorted((a, b) => a.localeCompare(b));
