/** Runs one thing at a time, in the order asked: a decision in flight and a deadline never interleave. @module */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined); // The caller of `work` gets its failure; the queue goes on.
    return next;
  };
}
