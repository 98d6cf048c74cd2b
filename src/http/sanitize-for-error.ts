/**
 * Makes a caller's text safe for an error message: removes everything that looks like a secret, and words long enough
 * to be one. Bursar's ids are shorter.
 * @module
 */
import { redactText } from '../platform/redact.ts';

const longWord = /[\w+/=%~.-]{32,}/g;

export const sanitizeForError = (text: string): string => redactText(text).replace(longWord, '…');

/** A path, segment by segment: a long way is no secret, a long segment may be. */
export const sanitizePathForError = (path: string): string => path.split('/').map(sanitizeForError).join('/');
