/**
 * A seeded history of one owner's ledger on a whole installation: clients move money and repeat each order with its key
 * until it is answered, give up in the middle, and send an order twice at once, while API, worker, Temporal, PostgreSQL
 * and single connections of PostgreSQL are killed. The checks that follow are in `ledger-checks.ts`.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, signalIfThere } from '../../src/supervisor/pids.ts';
import { type Random, randomFrom } from '../load/random.ts';
import type { Installation } from '../support/installation.ts';
import { type Answer, callBy, untilAnswered } from '../support/plain-calls.ts';
import { eventually } from '../support/world.ts';
import { expireLeases } from './dead-api.ts';
import { accountOf, type Book, drawOrder, type Mover, type Order } from './ledger-orders.ts';

/** `backend`: the process of PostgreSQL behind one connection of the API, after which PostgreSQL ends all others. */
export type Victim = 'api' | 'postgres' | 'backend' | 'worker' | 'temporal';
/** What dies at the same moment. */
export type Death = readonly Victim[];
export type Course = {
  readonly seed: number;
  readonly steps: number;
  readonly deaths: readonly Death[];
  readonly lanes: number;
};

/** An order and every answer to it; the last one stands, unless the order has no key. */
export type Sent = { readonly order: Order; readonly answers: readonly Answer[] };

export type History = {
  readonly site: Installation;
  readonly book: Book;
  readonly sent: readonly Sent[];
  /** Answers that no caller should get. */
  readonly faults: readonly string[];
  readonly kills: readonly Victim[];
  readonly tookMs: number;
};

const fundedEuros = 2_000;
const walletCount = 4;

export async function openBook(site: Installation): Promise<Book> {
  const { key, ownerId, send } = await site.owner();
  const call = callBy(send);
  const made = async (method: string, path: string, body: object) => {
    const key = randomUUID(); // What the last history has killed may still be starting.
    const answer = await untilAnswered(() => call(method, path, body, key));
    if (answer.status >= 300 || answer.status === 0) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.body;
  };
  const first = (await made('POST', '/fund', { amountEuros: fundedEuros })).walletId as string;
  const wallets = [first];
  while (wallets.length < walletCount) {
    wallets.push((await made('POST', '/wallets', { name: `Wallet ${wallets.length}` })).id);
  }
  const agents: Mover[] = [];
  for (const funding of ['wallet', 'budget']) {
    const { id } = await made('POST', '/agents', { name: `Draws on a ${funding}` });
    const terms = { dailyLimitEuros: 100_000, monthlyLimitEuros: 1_000_000, requireIntent: false };
    await made('PATCH', `/policies/agent/${id}`, terms);
    if (funding === 'budget') await made('POST', `/agents/${id}/fund`, { amount: fundedEuros / 10 });
    const { token } = await made('POST', `/agents/${id}/tokens`, { scopes: ['transfers.write', 'transfers.read'] });
    agents.push({ token, agentId: id, source: funding === 'wallet' ? accountOf(first) : `agent:${id}:available` });
  }
  return { ownerId, wallets, owner: { token: key, source: accountOf(first) }, agents };
}

export async function playHistory(site: Installation, book: Book, course: Course): Promise<History> {
  const from = performance.now();
  const { client, sent, faults } = clientsOf(site);
  const killer = startKiller(site, course);
  let next = 0;
  const lane = async () => {
    while (next < course.steps) {
      const step = next++;
      await killer.mayBegin(step);
      const random = randomFrom(course.seed * 100_003 + step);
      await client(drawOrder(book, step, random), random);
    }
  };
  await Promise.all(Array.from({ length: course.lanes }, lane));
  return { site, book, sent, faults, kills: await killer.end(), tookMs: performance.now() - from };
}

const againMs = 100;
const answeredWithinMs = 90_000;

function clientsOf(site: Installation) {
  const sent: Sent[] = [];
  const faults: string[] = [];

  const ask = async ({ path, body, mover, key }: Order, withinMs: number, prefix = ''): Promise<Answer> => {
    const call = callBy(({ method, path: at, headers, body: text }) =>
      fetch(`${site.apiUrl}${prefix}${at}`, {
        method,
        headers: { ...headers, Authorization: `Bearer ${mover.token}` },
        signal: AbortSignal.timeout(withinMs),
        ...(text === undefined ? {} : { body: text }),
      }),
    );
    return call('POST', path, body, key);
  };

  const client = async (order: Order, random: Random): Promise<void> => {
    const answers: Answer[] = [];
    sent.push({ order, answers });
    const until = Date.now() + answeredWithinMs;
    for (let attempt = 1; ; attempt++) {
      const isImpatient = attempt === 1 && order.key !== undefined && random.chance(0.3);
      const withinMs = isImpatient ? 1 + random.below(60) : 30_000;
      const copies = order.key !== undefined && random.chance(0.2) ? ['', '/v1'] : [''];
      const found = await Promise.all(copies.map((prefix) => ask(order, withinMs, prefix)));
      answers.push(...found);
      faults.push(...found.flatMap((answer) => faultOf(order, answer)));
      // A refusal leaves nothing under the key, so that of two copies one may be refused and the other be carried out.
      if (order.key === undefined || found.some(isDone) || found.every(isFinal)) break;
      if (Date.now() > until) {
        faults.push(`${order.kind} ${order.mark}: no answer that stands; last ${JSON.stringify(found)}`);
        break;
      }
      await sleep(againMs);
    }
    if (order.key !== undefined && answers.some(isDone) && random.chance(0.1)) await misuse(order);
  };

  /** The key of an order that succeeded, for another request. */
  const misuse = async (order: Order): Promise<void> => {
    const other = { ...order, body: { ...order.body, simulate: true } };
    const answer = await ask(
      { ...other, body: order.path.startsWith('/transfers') ? renamed(order) : other.body },
      30_000,
    );
    const isRefused = answer.status === 409 && answer.retryAfter === null;
    if (!isRefused && !isUnanswered(answer)) {
      faults.push(`${order.kind} ${order.mark}: its key served another request: ${JSON.stringify(answer)}`);
    }
  };
  return { client, sent, faults };
}

const renamed = ({ body }: Order) =>
  'splits' in body
    ? { ...body, splits: (body.splits as object[]).map((line) => ({ ...line, reference: 'another' })) }
    : { ...body, memo: 'another' };

export const isDone = ({ status }: Answer): boolean => status === 200 || status === 201;
const isUnanswered = ({ status, retryAfter }: Answer): boolean =>
  status === 0 || status === 503 || (status === 409 && retryAfter !== null);
const isFinal = (answer: Answer): boolean => !isUnanswered(answer);

/** Not enough money is the one refusal that these orders may meet. */
function faultOf({ kind, mark }: Order, answer: Answer): string[] {
  const { status, body, retryAfter } = answer;
  const isExpected =
    isDone(answer) ||
    status === 0 ||
    (status === 400 && /euros available/.test(String(body?.error))) ||
    ((status === 503 || status === 409) && retryAfter !== null);
  return isExpected ? [] : [`${kind} ${mark}: ${JSON.stringify(answer)}`];
}

const victims: readonly Victim[] = [
  ...(['api', 'api', 'api', 'postgres', 'postgres', 'backend', 'backend', 'backend'] as const),
  ...(['worker', 'worker', 'temporal'] as const),
];

/** None dies twice, because the supervisor waits longer and longer for what keeps dying. */
export function drawDeaths(seed: number, count: number): Death[] {
  const random = randomFrom(seed);
  const drawn: Victim[][] = [];
  const left = () => victims.filter((one) => !drawn.flat().includes(one));
  while (drawn.length < count) {
    drawn.push([random.pick(left())]);
    if (random.chance(0.2) && left().includes('worker')) drawn.at(-1)?.push('worker');
  }
  return drawn;
}

/**
 * Kills evenly over the steps, each victim at a random moment while orders are under way: the step of a death begins
 * when the victim is there, and no step overtakes a death by more than a few.
 */
function startKiller(site: Installation, { seed, steps, deaths, lanes }: Course) {
  const random = randomFrom(seed);
  const kills: Victim[] = [];
  const dueAt = deaths.map((_, n) => Math.round((steps * (n + 1)) / (deaths.length + 1)));
  const armed = dueAt.map(() => Promise.withResolvers<void>());
  const begun = dueAt.map(() => Promise.withResolvers<void>());
  const killed = dueAt.map(() => Promise.withResolvers<void>());
  const running = (async () => {
    for (const [n, together] of deaths.entries()) {
      const afterMs = random.below(40);
      for (const one of together) await isUp(site, one);
      armed[n]?.resolve();
      await begun[n]?.promise;
      await sleep(afterMs);
      await Promise.all(together.map((one) => end(site, one)));
      kills.push(...together);
      killed[n]?.resolve();
    }
  })();
  running.catch((error: unknown) => {
    for (const { reject } of [...armed, ...killed]) reject(error);
  });
  for (const { promise } of [...armed, ...killed]) promise.catch(() => undefined);
  return {
    mayBegin: async (step: number): Promise<void> => {
      for (const [n, due] of dueAt.entries()) {
        if (step < due) return;
        await armed[n]?.promise;
        begun[n]?.resolve();
        if (step >= due + 4 * lanes) await killed[n]?.promise;
      }
    },
    end: async () => {
      await running;
      return kills;
    },
  };
}

async function isUp(site: Installation, victim: Victim): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    if (victim === 'backend' || victim === 'postgres') return (await backends(site)).length > 0;
    if (victim === 'api' && !(await fetch(`${site.apiUrl}/`).catch(() => undefined))?.ok) return false;
    return isAlive(await site.child(victim));
  };
  await eventually(isThere, Boolean);
}

/** Those that are at work first. */
const backends = (site: Installation) =>
  site
    .sql<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'bursar-api' order by state <> 'active', pid`,
    )
    .catch(() => []);

async function end(site: Installation, victim: Victim): Promise<void> {
  if (victim === 'backend') {
    const [first] = await backends(site);
    if (first !== undefined) signalIfThere(first.pid, 'SIGKILL');
    return;
  }
  await site.kill(victim);
  if (victim === 'api') await expireLeases(site, new Date());
}
