/**
 * A loop that runs a pass when it is woken, and at a fixed interval; a pass that fails is logged
 * and repeated with backoff. The worker's background loops are these, but for the sealer, whose pace follows its
 * backlog.
 * @module
 */
import type { Logger } from '../platform/log.ts';

export type Loop = {
  /** There is work now. */
  wake(): void;
  /** Finishes the pass under way and ends. */
  stop(): Promise<void>;
  /** For health: when the last pass ended well, and what is wrong now. */
  state(): { lastSuccessAt: number | undefined; failing: boolean };
};

type Options = { name: string; everyMs: number; pass: () => Promise<unknown>; log: Logger };

const firstBackoffMs = 250;

export function startLoop({ name, everyMs, pass, log }: Options): Loop {
  let wake: (() => void) | undefined;
  let isWoken = true;
  let stopping = false;
  let lastSuccessAt: number | undefined;
  let failures = 0;

  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
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
        log.warn({ err: error, loop: name }, 'pass failed; it is repeated');
      }
      if (stopping) return;
      // While passes fail, wakes do not shorten the wait, so that a server that is away is not called at the rate of
      // the traffic.
      if (failures > 0) await sleep(Math.min(everyMs, firstBackoffMs * 2 ** Math.min(failures, 6)));
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
