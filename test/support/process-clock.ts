/**
 * A clock that stands still while this process gets no processor. On a busy machine a timer of this process and this
 * clock are late together, so a wait that such a timer ends has the same length as on an idle one. Not for waits that
 * another process ends.
 * @module
 */

export type ProcessClock = { readonly now: () => number; readonly stop: () => void };

/** Short against the waits that are measured, long against the lateness of a timer of an idle process. */
const tickMs = 50;

/** An interval that was missed is not made up for: each tick is at least `tickMs` of real time. */
export function startProcessClock(): ProcessClock {
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, tickMs);
  return { now: () => ticks * tickMs, stop: () => clearInterval(timer) };
}

/** How long `work` took by such a clock. */
export async function processTimeOf(work: () => Promise<unknown>): Promise<number> {
  const clock = startProcessClock();
  try {
    await work();
    return clock.now();
  } finally {
    clock.stop();
  }
}
