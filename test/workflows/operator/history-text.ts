/** All that a history holds, readable: payloads decoded, nothing left out. @module */
import type { History } from '../../support/history-json.ts';

/** One text with every payload in the clear, for looking for what must not be there. */
export const textOf = (history: object): string => JSON.stringify(readable(history));

/** Every string inside the payloads of a history. */
export const payloadStringsOf = (history: History): string[] => payloadsIn(history).flatMap(stringsIn);

function readable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, readable(part)]));
}

/** A payload is what has `metadata` and `data`; those that are not JSON are taken as text. */
function payloadsIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  if ('metadata' in value && 'data' in value) return [decoded(value.data)];
  return Object.values(value).flatMap(payloadsIn);
}

function decoded(data: unknown): unknown {
  const text = data instanceof Uint8Array ? Buffer.from(data).toString('utf8') : '';
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return text;
  }
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [name, ...stringsIn(part)]);
}
