/**
 * Masks card numbers, bank accounts, tokens, keys, sealed and signed texts, and values under secret names. Pure; ids
 * and request ids stay readable.
 * @module
 */

import { types } from 'node:util';
import { cardNumbersIn, type Span } from './card-number-spans.ts';
import { ibansIn } from './iban-spans.ts';
import { masked, secretForms } from './secret-forms.ts';

export function redactText(text: string): string {
  let clean = text;
  for (const [pattern, replacement] of secretForms) clean = clean.replace(pattern, replacement);
  clean = withoutSpans(clean, ibansIn(clean));
  return withoutSpans(clean, cardNumbersIn(clean));
}

/** A copy in plain JSON shapes: errors become records, cycles and depths beyond the cap a word. */
export function redact(value: unknown): unknown {
  return copy(value, 0, []);
}

const deepest = 8;
const widest = 200;
const longestText = 16_384;

const tellingNames = new Set(
  `authorization proxyauthorization cookie setcookie password passwd secret secrets clientsecret token accesstoken
   refreshtoken paymenttoken apikey privatekey signingkey vaultkey networkkey clockkey xclockkey dashboardsecret xdashboardsecret cvc cvv
   pan cardnumber iban hmackey plaintext`.split(/\s+/),
);

const isTelling = (name: string): boolean => tellingNames.has(name.toLowerCase().replaceAll(/[^a-z]/g, ''));

function copy(value: unknown, depth: number, above: readonly object[]): unknown {
  if (typeof value === 'string') return shortText(value);
  if (typeof value === 'number' || typeof value === 'bigint') return cleanNumber(value);
  if (typeof value === 'symbol' || typeof value === 'function') return `[${typeof value}]`;
  if (typeof value !== 'object' || value === null) return value;
  if (above.includes(value)) return '[circular]';
  if (depth >= deepest) return '[too deep]';
  return copyObject(value, depth + 1, [...above, value]);
}

function copyObject(value: object, depth: number, above: readonly object[]): unknown {
  const inner = (item: unknown): unknown => copy(item, depth, above);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (value instanceof URL || value instanceof RegExp) return redactText(String(value));
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Map) return inner(Object.fromEntries([...value].map(([key, item]) => [String(key), item])));
  if (value instanceof Set) return inner([...value]);
  if (Array.isArray(value)) {
    const more = value.length > widest ? [`[${value.length - widest} more]`] : [];
    return [...value.slice(0, widest).map(inner), ...more];
  }
  const entries = types.isNativeError(value) ? errorEntries(value) : readableEntries(value);
  return Object.fromEntries(
    entries
      .slice(0, widest)
      .map(([name, item]) => [redactText(name), isTelling(name) && item != null ? masked : inner(item)]),
  );
}

const errorEntries = (error: Error): [string, unknown][] =>
  isDatabaseError(error) ? databaseErrorEntries(error) : anyErrorEntries(error);

const anyErrorEntries = (error: Error): [string, unknown][] => [
  ['type', error.name],
  ['message', error.message],
  ['stack', error.stack],
  ...(error.cause === undefined ? [] : [['cause', error.cause] as [string, unknown]]),
  ...('errors' in error ? [['errors', error.errors] as [string, unknown]] : []),
  ...readableEntries(error).filter(([name]) => !['name', 'message', 'stack', 'cause', 'errors'].includes(name)),
];

/** PostgreSQL's errors, also as MikroORM wraps them; both have a SQLSTATE and a severity. */
const isDatabaseError = (error: Error): boolean => {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && typeof severity === 'string';
};

/** Not `detail`, `where`, `hint` and the query with its parameters, which contain whole rows. */
const databaseFields = ['code', 'severity', 'schema', 'table', 'column', 'dataType', 'constraint', 'routine'] as const;

function databaseErrorEntries(error: Error): [string, unknown][] {
  const fields = error as Partial<Record<(typeof databaseFields)[number], unknown>>;
  const message = withoutValue(error.message, String(fields.code));
  return [
    ['type', error.name],
    ['message', message],
    ['stack', `${error.name}: ${message}\n${framesOf(error)}`],
    ...databaseFields.flatMap((name): [string, unknown][] => (fields[name] == null ? [] : [[name, fields[name]]])),
  ];
}

/** MikroORM appends the detail in separate lines; data exceptions (class 22) quote the value that they refuse. */
const withoutValue = (message: string, code: string): string => {
  const [first = ''] = message.split('\n');
  return code.startsWith('22') ? first.replace(/".*/, `"${masked}"`) : first;
};

/** The lines of the stack that name places in the code; text of the message that looks like one does not pass. */
const framesOf = ({ message, stack = '' }: Error): string =>
  stack
    .split(message)
    .join('')
    .split('\n')
    .filter((line) => /^ {4}at .*:\d+:\d+\)?$/.test(line))
    .join('\n');

/** A getter that throws must not lose the line it stands in. */
function readableEntries(value: object): [string, unknown][] {
  return Object.keys(value).map((name): [string, unknown] => {
    try {
      return [name, Reflect.get(value, name)];
    } catch {
      return [name, '[unreadable]'];
    }
  });
}

function cleanNumber(value: number | bigint): unknown {
  const text = String(value);
  if (redactText(text) === text || isEpochMs(value)) return typeof value === 'bigint' ? text : value;
  return masked;
}

/** One in ten millisecond clocks of thirteen digits passes the card check; no card number begins that way. */
const isEpochMs = (value: number | bigint): boolean => value >= 1_000_000_000_000 && value < 2_000_000_000_000;

/** Cut before as well as after, so that a huge text costs no huge search. */
const shortText = (text: string): string =>
  text.length > longestText
    ? `${redactText(text.slice(0, 2 * longestText)).slice(0, longestText)}… (${text.length} characters)`
    : redactText(text);

function withoutSpans(text: string, spans: readonly Span[]): string {
  let clean = '';
  let from = 0;
  for (const [start, end] of spans) {
    clean += text.slice(from, start) + masked;
    from = end;
  }
  return clean + text.slice(from);
}
