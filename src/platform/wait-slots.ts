/** How many calls of one process wait for a person or for events at once: each holds a connection meanwhile. @module */

/** Undefined where too many wait already; otherwise gives the place back. */
export type TakeWait = (ownerId: string) => (() => void) | undefined;

export function waitSlots({ most = 200, mostOfOwner = 20 } = {}): TakeWait {
  const byOwner = new Map<string, number>();
  let all = 0;
  return (ownerId) => {
    const own = byOwner.get(ownerId) ?? 0;
    if (all >= most || own >= mostOfOwner) return undefined;
    all += 1;
    byOwner.set(ownerId, own + 1);
    return () => {
      all -= 1;
      const left = (byOwner.get(ownerId) ?? 1) - 1;
      if (left === 0) byOwner.delete(ownerId);
      else byOwner.set(ownerId, left);
    };
  };
}
