/**
 * How many calls of one process wait for a person or for events at once: each holds a connection meanwhile. Counted for
 * the owner and for who calls, so that one agent takes no more than a part of its owner's places.
 * @module
 */

export type Waiter = {
  readonly ownerId: string;
  /** Of the agent, whichever of its tokens it uses, or of the API key. */
  readonly callerId: string;
};

/** Undefined where too many wait already; otherwise gives the place back. */
export type TakeWait = (waiter: Waiter) => (() => void) | undefined;

export function waitSlots({ most = 200, mostOfOwner = 20, mostOfCaller = 8 } = {}): TakeWait {
  const taken = new Map<string, number>();
  const numberOf = (name: string): number => taken.get(name) ?? 0;
  const change = (names: readonly string[], by: 1 | -1): void => {
    for (const name of names) {
      const number = numberOf(name) + by;
      if (number === 0) taken.delete(name);
      else taken.set(name, number);
    }
  };
  return ({ ownerId, callerId }) => {
    const limits = new Map([
      ['all', most],
      [ownerId, mostOfOwner],
      [callerId, mostOfCaller],
    ]);
    if ([...limits].some(([name, limit]) => numberOf(name) >= limit)) return undefined;
    change([...limits.keys()], 1);
    return () => change([...limits.keys()], -1);
  };
}
