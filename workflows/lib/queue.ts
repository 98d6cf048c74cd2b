/** Runs one task at a time, in the order of the calls, so that two decisions never interleave. @module */
export type Queue = <T>(work: () => Promise<T>) => Promise<T>;

export function createQueue(): Queue {
  let last: Promise<unknown> | undefined;
  return (work) => {
    const before = last;
    const next = before === undefined ? work() : before.then(work, work);
    const ended = (): void => {
      if (last === next) last = undefined; // The next caller need not wait for a promise that has ended.
    };
    last = next;
    next.then(ended, ended); // The caller of `work` gets its failure; the queue continues.
    return next;
  };
}
