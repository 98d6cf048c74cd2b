/**
 * Makes Temporal agree with the table of workflow runs: sends wakes, starts missing runs (also after Temporal lost its
 * database) and wakes overdue ones. A pass takes one bounded batch of each, in this order, and their calls run
 * concurrently, so that no owner, workflow type or slow run delays the others. Runs in the worker process; the API only
 * sends wakes after a move of the clock.
 * @module
 */
import type { Database } from '../db/database.ts';
import { inBatches } from '../kernel/batches.ts';
import { minute, second } from '../kernel/instant.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Temporal } from '../temporal/connection.ts';
import type { WorkflowGateway } from '../temporal/gateway.ts';
import { type Claimed, confirmWakes, createClaims, forgetOtherEpochs, noteOverdue, type QueueName } from './claims.ts';
import { countClockWakes, markDue } from './clock-wakes.ts';
import { type Worked, workOff } from './lanes.ts';

/** A batch whose calls have begun. Not a bare promise, which an `await` of the begin would wait for too. */
type Begun = { readonly worked: Promise<Worked<Claimed>> };

export type RelayDeps = {
  readonly database: Database;
  readonly clock: Clock;
  readonly temporal: Pick<Temporal, 'epoch' | 'isReachable'>;
  readonly gateway: Pick<WorkflowGateway, 'start' | 'wake'>;
  readonly log: Logger;
  /** Real time after which a pass goes on without the calls that hang. */
  readonly batchMs?: number;
};

export type Pass = {
  readonly woken: number;
  readonly started: number;
  readonly rescued: number;
  /** Some row was worked on, so that others may be waiting. */
  readonly hadWork: boolean;
};

export type Relay = {
  /** One batch of each queue. Throws when Temporal or PostgreSQL is away, not when single runs cannot be reached. */
  pass(): Promise<Pass>;
  /** One batch of wakes; answers how many were taken and how many of these arrived. */
  wakeSome(): Promise<{ taken: number; woken: number }>;
  /** Resolves when no call is under way any more. */
  settled(): Promise<void>;
};

/** Of each queue at most this many in a pass: a wake that comes during a pass waits for a few calls, not for all. */
const most: Record<QueueName, number> = { wakes: 32, starts: 16, rescues: 8 };
const lanes = 8;
/** Calls that hang keep others from being begun only so far: some lanes are always free. */
const mostUnderWay = 24;
const fewestLanes = 2;
/** A batch that takes longer is slowed down by calls that hang: the pass goes on without them. */
const usualBatchMs = 300;
/** How often it looks for what joins a queue by the passing of time. */
const upkeepEveryMs = second;
/** Marks of an advance of the clock, beside a batch. */
const markingMs = 100;
const overdueMs = 2 * minute;
/** Failed runs that are counted separately. */
const mostCounted = 1_000;

export function createRelay({ database, clock, temporal, gateway, log, batchMs = usualBatchMs }: RelayDeps): Relay {
  const claims = createClaims(database);
  const underWay = new Set<Promise<unknown>>();
  let calls = 0;
  /** Since the last call that arrived. The same run again and again is still one run. */
  const failedInARow = new Set<string>();
  const confirm = inBatches<Claimed>((woken) => confirmWakes(database, woken), { atOnce: 100, mostWaiting: 10_000 });

  const acts: Record<QueueName, (claimed: Claimed) => Promise<void>> = {
    wakes: async (claimed) => {
      await gateway.wake(claimed);
      await confirm(claimed);
    },
    starts: (claimed) => gateway.start(claimed),
    rescues: (claimed) => gateway.wake(claimed),
  };

  const call = async (queue: QueueName, claimed: Claimed): Promise<void> => {
    calls += 1;
    try {
      await acts[queue](claimed);
      failedInARow.clear();
    } catch (error) {
      if (failedInARow.size < mostCounted) failedInARow.add(claimed.id);
      log.warn({ err: error, workflowId: claimed.id }, 'workflow run not reached; a later pass repeats it');
      throw error;
    } finally {
      calls -= 1;
    }
  };

  /** Claims a batch and begins its calls; what comes of them is known when the batch's time is over. */
  const begin = async (queue: QueueName, taken: string[], overdueBefore: Date): Promise<Begun> => {
    const claimed = await claims.claim(queue, { most: most[queue], taken, overdueBefore });
    taken.push(...claimed.map(({ id }) => id));
    const batch = workOff(
      queue === 'rescues' ? claimed.filter(({ isOverdue }) => isOverdue) : claimed,
      (one) => call(queue, one),
      { lanes: Math.max(fewestLanes, Math.min(lanes, mostUnderWay - calls)), forMs: batchMs },
    );
    const end = async (): Promise<Worked<Claimed>> => {
      const { settled, ...counts } = await batch;
      underWay.add(settled);
      void settled.finally(() => underWay.delete(settled));
      await claims.release(queue, counts.notBegun);
      return counts;
    };
    const worked = end();
    // Its failure is read at the end of the pass, which may await a statement until then: without a handler it would end
    // the process.
    worked.catch(() => undefined);
    return { worked };
  };

  /** One run that cannot be reached is its own matter. When none can, Temporal is away, whatever its front end says. */
  const assertReachable = async (worked: readonly Worked<Claimed>[]): Promise<void> => {
    if (failedInARow.size === 0 || worked.every(({ failed }) => failed === 0)) return;
    if (failedInARow.size < lanes && (await temporal.isReachable())) return;
    throw new Error(`none of ${failedInARow.size} workflow runs could be reached; a later pass repeats them`);
  };

  const overdueBefore = async (): Promise<Date> => new Date((await clock.now()).getTime() - overdueMs);

  let maintainedAt = Number.NEGATIVE_INFINITY;
  const keepUp = async (epoch: string, before: Date): Promise<void> => {
    if (performance.now() - maintainedAt < upkeepEveryMs) return;
    await forgetOtherEpochs(database, epoch);
    await noteOverdue(database, before);
    maintainedAt = performance.now();
  };

  return {
    pass: async () => {
      const epoch = await temporal.epoch();
      const before = await overdueBefore();
      const taken: string[] = [];
      await markDue(database, markingMs);
      const begun: Promise<Worked<Claimed>>[] = [];
      try {
        begun.push((await begin('wakes', taken, before)).worked);
        await keepUp(epoch, before);
        begun.push((await begin('starts', taken, before)).worked);
        begun.push((await begin('rescues', taken, before)).worked);
      } finally {
        await Promise.allSettled(begun);
      }
      const worked = await Promise.all(begun);
      await assertReachable(worked);
      const hadWork = worked.some(({ done, hanging, notBegun }) => done + hanging + notBegun.length > 0);
      const [woken = 0, started = 0, rescued = 0] = worked.map(({ done }) => done);
      return { woken, started, rescued, hadWork };
    },
    wakeSome: async () => {
      const taken: string[] = [];
      const { done } = await (await begin('wakes', taken, await overdueBefore())).worked;
      return { taken: taken.length, woken: done };
    },
    settled: async () => {
      await Promise.all(underWay);
    },
  };
}

type WakeDeps = {
  readonly database: Database;
  readonly temporal: Pick<Temporal, 'isReachable'>;
  readonly relay: Relay;
};

const answerWithinMs = 3 * second;
const firstMarkingMs = second;
const lookAgainMs = 50;

/**
 * After the clock was moved: wakes what is due for some seconds, beside the worker's relay, which does the rest.
 * With Temporal away nothing is woken and nothing is lost.
 */
export async function wakeDue({ database, temporal, relay }: WakeDeps): Promise<{ woken: number; left: number }> {
  const until = performance.now() + answerWithinMs;
  if (!(await temporal.isReachable())) {
    const { woken, left } = await countClockWakes(database);
    return { woken: 0, left: woken + left };
  }
  await markDue(database, firstMarkingMs); // All before the first wake, where they are not many thousands.
  for (;;) {
    await markDue(database, markingMs);
    const { taken } = await relay.wakeSome();
    const counted = taken === 0 || performance.now() > until ? await countClockWakes(database) : undefined;
    if (counted !== undefined && (counted.left === 0 || performance.now() > until)) return counted;
    if (taken === 0) await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}
