/**
 * A loop that runs a pass when it is woken, and at a fixed interval; a pass that fails is logged
 * and repeated with backoff. All background loops of the worker are these.
 * @module
 */
import { isDatabaseAway } from '../db/database.ts';
import { second } from '../kernel/instant.ts';
import type { Logger } from './log.ts';

export type Loop = {
  /** There is work now. */
  wake(): void;
  /** Finishes the pass under way and ends. */
  stop(): Promise<void>;
  /** For health: when the last pass ended well, and what is wrong now. */
  state(): LoopState;
};
type LoopState = { readonly lastSuccessAt: number | undefined; readonly failing: boolean };

/** Of loops that work together. */
export function oldestOf(states: readonly LoopState[]): LoopState {
  const succeeded = states.map(({ lastSuccessAt }) => lastSuccessAt ?? Number.NaN);
  const oldest = Math.min(...succeeded);
  return {
    lastSuccessAt: Number.isNaN(oldest) ? undefined : oldest,
    failing: states.some(({ failing }) => failing),
  };
}

type Options = { name: string; everyMs: number; pass: () => Promise<unknown>; log: Logger };

const firstBackoffMs = 500;
const longestBackoffMs = 16 * second;
/** While PostgreSQL is away a pass costs no more than an attempt to connect, and what waits is to go on soon after it. */
const longestWhileAwayMs = 2 * second;

/** From a failed pass to the next one; an interval of less than a second brings no more passes than one a second. */
function backoffMs(failures: number, error: unknown, everyMs: number): number {
  const longestMs = isDatabaseAway(error) ? longestWhileAwayMs : longestBackoffMs;
  return Math.min(firstBackoffMs * 2 ** Math.min(failures - 1, 6), longestMs, Math.max(everyMs, second));
}

export function startLoop({ name, everyMs, pass, log }: Options): Loop {
  let wake: (() => void) | undefined;
  let isWoken = true;
  let stopping = false;
  let lastSuccessAt: number | undefined;
  let failures = 0;
  let waitMs = everyMs;

  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        wake = undefined; // Whatever wakes a busy loop a thousand times does this once.
        clearTimeout(timer);
        resolve();
      };
    });

  const run = async (): Promise<void> => {
    while (!stopping) {
      isWoken = false;
      try {
        await pass();
        lastSuccessAt = Date.now();
        failures = 0;
      } catch (error) {
        failures += 1;
        waitMs = backoffMs(failures, error, everyMs);
        log.warn({ err: error, loop: name }, 'pass failed; it is repeated');
      }
      if (stopping) return;
      // While passes fail, wakes do not shorten the wait, so that a server that is away is not called at the rate of
      // the traffic.
      if (failures > 0) await sleep(waitMs);
      else if (!isWoken) await sleep(everyMs);
    }
  };

  const ended = run();
  return {
    wake: () => {
      isWoken = true;
      if (failures === 0) wake?.();
    },
    stop: async () => {
      stopping = true;
      wake?.();
      await ended;
    },
    state: () => ({ lastSuccessAt, failing: failures > 0 }),
  };
}
