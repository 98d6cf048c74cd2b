/**
 * One call at a time for all who ask for the same: those who ask while it is under way share the next one. So each is
 * answered by a call that began after it asked, and sees what was changed before.
 * @module
 */
export function sharedCall<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    next = undefined;
    const started = work();
    running = started;
    const ended = () => {
      if (running === started) running = undefined;
    };
    started.then(ended, ended);
    return started;
  };
  return () => {
    if (running === undefined) return begin();
    next ??= running.then(begin, begin);
    return next;
  };
}
