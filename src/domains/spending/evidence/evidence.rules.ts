/** Which evidence is taken. Pure. @module */

export const evidenceTypes = ['receipt', 'screenshot', 'invoice', 'confirmation', 'other'] as const;
export type EvidenceType = (typeof evidenceTypes)[number];

/** Only looked at: whoever opens it later is no part of Bursar, so it may lie anywhere. */
export function isWebAddress(text: string): boolean {
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
}
