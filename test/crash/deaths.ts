/**
 * Kills the processes of an installation evenly over the steps of a history, each at a random moment while steps are
 * under way, and calls the API as a client that survives this: without an answer the status is 0.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../../src/supervisor/pids.ts';
import { type Random, randomFrom } from '../load/random.ts';
import type { ChildName, Installation } from '../support/installation.ts';
import { eventually } from '../support/world.ts';
import { expireLeases } from './dead-api.ts';

export type Answer = { readonly status: number; readonly body: Record<string, unknown> };
export type Call = (
  method: string,
  path: string,
  body?: object,
  given?: { key?: string; withinMs?: number },
) => Promise<Answer>;

/** Status 0 = no answer: the process is gone, or the caller did not wait for it. */
export const callAs =
  (site: Installation, who: Readonly<Record<string, string>>): Call =>
  async (method, path, body, { key = randomUUID(), withinMs = 40_000 } = {}) => {
    try {
      const response = await fetch(`${site.apiUrl}${path}`, {
        method,
        headers: {
          ...who,
          'Content-Type': 'application/json',
          ...(method === 'GET' ? {} : { 'Idempotency-Key': key }),
        },
        signal: AbortSignal.timeout(withinMs),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    } catch (error) {
      return { status: 0, body: { error: String(error) } };
    }
  };

export async function succeed(answering: Promise<Answer>): Promise<Record<string, unknown>> {
  const { status, body } = await answering;
  if (status < 200 || status > 299) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

export type Course = { readonly seed: number; readonly steps: number; readonly lanes: number };

/** What a history did. */
export type Figures = {
  readonly steps: number;
  readonly kills: Readonly<Record<string, number>>;
  readonly did: Readonly<Record<string, number>>;
  /** One sentence for each kind of refusal. */
  readonly refusals: Readonly<Record<string, string>>;
  readonly tookMs: number;
};

/** Plays the steps in so many lanes. Each victim dies once, in the order of the list. Answers what was killed. */
export async function playWithDeaths(
  site: Installation,
  { seed, steps, lanes }: Course,
  victims: readonly ChildName[],
  play: (random: Random, step: number) => Promise<void>,
): Promise<Pick<Figures, 'steps' | 'kills'>> {
  const killer = startKiller(site, seed, steps, victims);
  let next = 0;
  const lane = async () => {
    while (next < steps) {
      const step = next++;
      await killer.isOnTime(step);
      await play(randomFrom(seed + step), step);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { steps: next, kills: await killer.end() };
}

/** No step overtakes the kills by much. */
function startKiller(site: Installation, seed: number, steps: number, victims: readonly ChildName[]) {
  const random = randomFrom(seed);
  const kills: Record<string, number> = {};
  const apart = steps / (victims.length + 1);
  const isOver = new AbortController();
  let reached = 0;
  let killed = 0;
  const running = (async () => {
    for (const victim of victims) {
      const due = Math.min(steps, Math.round(apart * (killed + 1)));
      await eventually(async () => reached >= due || isOver.signal.aborted, Boolean, 600_000);
      await isUp(site, victim);
      await sleep(random.below(800));
      await site.kill(victim);
      kills[victim] = (kills[victim] ?? 0) + 1;
      killed++;
      if (victim === 'api') await expireLeases(site, new Date());
    }
  })();
  return {
    isOnTime: async (step: number): Promise<void> => {
      reached = Math.max(reached, step);
      const due = Math.floor(step / apart) - 2;
      if (killed >= due) return;
      await Promise.race([running, eventually(async () => killed >= due, Boolean, 120_000)]);
    },
    end: async () => {
      isOver.abort();
      await running;
      return kills;
    },
  };
}

async function isUp(site: Installation, name: ChildName): Promise<void> {
  const url = { api: `${site.apiUrl}/`, sandbox: `${site.sandboxUrl}/health` }[name as string];
  await eventually(
    async () => isAlive(await site.child(name)) && (url === undefined || (await fetch(url).catch(() => undefined))?.ok),
    Boolean,
    120_000,
  );
}

/** The API, and with a path also what stands behind it. */
export const isAnswering = (site: Installation, path = '/', headers: Readonly<Record<string, string>> = {}) =>
  eventually(
    async () => (await fetch(`${site.apiUrl}${path}`, { headers }).catch(() => undefined))?.ok,
    Boolean,
    120_000,
  );
