/**
 * How long each step of a process' stop may take. Their sum is shorter than the time after which the supervisor, or
 * docker-compose, kills the process; a test compares them.
 * @module
 */
export const stopTimes = {
  /** Requests, deliveries and activities under way get this long to end by themselves. */
  drainMs: 6_000,
  /** Activities that ignore their cancellation are given up after this; Temporal repeats them elsewhere. */
  forceMs: 8_000,
  /** Connections to PostgreSQL and Temporal get this long to close. */
  closeMs: 2_000,
  /** After SIGTERM the supervisor sends SIGKILL. */
  killMs: 12_000,
} as const;

/** Waits for `work` at most `ms`; false when it is not done by then. A rejection of `work` is passed to the caller. */
export async function doneWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
