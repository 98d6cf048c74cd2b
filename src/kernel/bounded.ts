/**
 * Reduces the input of a signal or an update to a small value that fits a payload and a database column. Never throws:
 * long texts are cut, deep or surplus values are dropped, and fields without a name in the message are not read.
 * @module
 */

/** Below the longest text that the data converter writes (512). */
export const longestBoundedText = 500;
const deepest = 3;
const most = 32;

/** A copy in JSON shapes: at most 3 levels, 32 entries a level and 500 characters a text; control characters are spaces. */
export function bounded(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return boundedText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null || depth >= deepest) return null;
  if (Array.isArray(value)) return value.slice(0, most).map((item) => bounded(item, depth + 1));
  const entries = Object.entries(value).slice(0, most);
  return Object.fromEntries(entries.map(([name, item]) => [boundedText(name), bounded(item, depth + 1)]));
}

/** The texts of `value` under `names`; absent where there is no text or an empty one. Everything else is dropped. */
export function textsOf<Name extends string>(value: unknown, names: readonly Name[]): Partial<Record<Name, string>> {
  if (typeof value !== 'object' || value === null) return {};
  const texts: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const text: unknown = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    if (typeof text === 'string' && text !== '') texts[name] = boundedText(text);
  }
  return texts;
}

/** Well-formed and without control characters, which PostgreSQL and the operator's page could not take. */
const boundedText = (text: string): string =>
  text
    .slice(0, longestBoundedText)
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are removed
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
