/** Seeded random choices, so that a run can be repeated with the same choices per client. @module */

export type Random = {
  /** A whole number from 0 to `bound - 1`. */
  below(bound: number): number;
  chance(share: number): boolean;
  pick<T>(items: readonly T[]): T;
};

/** mulberry32 */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const below = (bound: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
  return {
    below,
    chance: (share) => below(1_000_000) < share * 1_000_000,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
  };
}
