/**
 * What a caller sent, as far as a refusal may repeat it: without what looks like a secret, and without words so long
 * that they could be one. Ids of ours are shorter.
 * @module
 */
import { redactText } from '../platform/redact.ts';

const longWord = /[\w+/=%~.-]{32,}/g;

export const echoed = (text: string): string => redactText(text).replace(longWord, '…');

/** A path, segment by segment: a long way is no secret, a long segment may be. */
export const echoedPath = (path: string): string => path.split('/').map(echoed).join('/');
