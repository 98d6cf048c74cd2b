/** Keeps the latest results of a pure function, for texts that come again and again. @module */

/** `most`: results that are kept; the oldest one goes first. */
export function remember<R>(most: number, find: (text: string) => R): (text: string) => R {
  const found = new Map<string, R>();
  return (text) => {
    if (found.has(text)) return found.get(text) as R;
    const result = find(text);
    const oldest = found.size >= most ? found.keys().next() : undefined;
    if (oldest?.done === false) found.delete(oldest.value);
    found.set(text, result);
    return result;
  };
}
