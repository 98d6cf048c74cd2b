/** The query string as one value per name, or a refusal: no name twice, no broken escape, no NUL. @module */
import { DomainError } from '../kernel/errors.ts';
import { isWellFormed } from '../kernel/text.ts';
import { sanitizeForError } from './sanitize-for-error.ts';

/** `url`: of the request, as received. */
export function queryOf(url: string): Readonly<Record<string, string>> {
  const start = url.indexOf('?');
  if (start === -1) return none;
  const values = new Map<string, string>();
  for (const pair of url.slice(start + 1).split('&')) {
    if (pair === '') continue;
    const middle = pair.indexOf('=');
    const name = decoded(middle === -1 ? pair : pair.slice(0, middle));
    if (values.has(name))
      throw new DomainError('invalid_request', `query.${sanitizeForError(name)}: is given more than once`);
    values.set(name, middle === -1 ? '' : decoded(pair.slice(middle + 1)));
  }
  return Object.fromEntries(values);
}

const none: Readonly<Record<string, string>> = Object.freeze({});

function decoded(text: string): string {
  const value = percentDecoded(text.replaceAll('+', ' '));
  if (value !== undefined && isWellFormed(value)) return value;
  throw new DomainError('invalid_request', 'query: its percent escapes must be UTF-8 text without NUL');
}

/** Undefined where an escape is broken or its bytes are not UTF-8. Also for path segments. */
export function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
