/** Which numbers of a sequence are settled, from what was seen of it and of the transactions that draw from it. Pure. @module */

/** `drawn`: the highest number before the look at `holders`, the transactions that may have drawn and not ended. */
export type Sight = { readonly drawn: number; readonly holders: ReadonlySet<string> };

export type SettledNumbers = {
  see(sight: Sight): void;
  /** All numbers up to this one are settled. It never falls. Undefined: so far transactions were open at every look. */
  through(): number | undefined;
};

/** So many moments wait for their holders at once; while there are more, later ones are not noted. */
const maximumWaiting = 16;

export function createSettledPosition(): SettledNumbers {
  let settled: number | undefined;
  let waiting: readonly Sight[] = [];
  return {
    see: (sight) => {
      const ended = waiting.filter(({ holders }) => isDisjoint(holders, sight.holders));
      const now = sight.holders.size === 0 || sight.drawn === 0 ? [sight] : [];
      const known = [...now, ...ended].map(({ drawn }) => drawn);
      if (known.length > 0) settled = Math.max(settled ?? 0, ...known);
      const through = settled ?? 0;
      waiting = waiting.filter(({ drawn }) => drawn > through);
      const isNews = sight.drawn > (waiting.at(-1)?.drawn ?? through);
      if (isNews && waiting.length < maximumWaiting) waiting = [...waiting, sight];
    },
    through: () => settled,
  };
}

const isDisjoint = (some: ReadonlySet<string>, others: ReadonlySet<string>): boolean =>
  [...some].every((one) => !others.has(one));
