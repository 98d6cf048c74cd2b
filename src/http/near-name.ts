/** Which known name a caller may have meant by an unknown one. Pure. @module */

/** The nearest of `known`, when at most two letters differ and most agree; letters of either case are the same. */
export function nearName(unknown: string, known: readonly string[]): string | undefined {
  if (unknown.length > longestName) return undefined;
  const [nearest] = known
    .map((name) => ({ name, distance: distance(unknown.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance: apart }) => apart <= 2 && apart * 2 < name.length)
    .sort((a, b) => a.distance - b.distance);
  return nearest?.name;
}

const longestName = 64;

/** Levenshtein: how many letters must be added, removed or replaced. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (letter === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
