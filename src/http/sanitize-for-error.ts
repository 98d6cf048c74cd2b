/**
 * Makes a caller's text safe for an error message: removes everything that looks like a secret, and words long enough
 * to be one. Bursar's ids are shorter.
 * @module
 */
import { redactText } from '../platform/redact.ts';

const longWord = /[\w+/=%~.-]{32,}/g;

/** A refusal is one sentence: longer texts are cut. */
const longestEcho = 100;

export function sanitizeForError(text: string): string {
  const safe = redactText(text.slice(0, 10 * longestEcho)).replace(longWord, '…');
  return safe.length > longestEcho ? `${safe.slice(0, longestEcho)}…` : safe;
}

/** A path, segment by segment: a long way is no secret, a long segment may be. */
export const sanitizePathForError = (path: string): string => path.split('/').map(sanitizeForError).join('/');
