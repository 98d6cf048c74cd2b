/** Runs one task at a time, in the order of the calls, so that two decisions never interleave. @module */
export function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined); // The caller of `work` gets its failure; the queue continues.
    return next;
  };
}
