/** Which evidence is accepted. Pure. @module */

export const evidenceTypes = ['receipt', 'screenshot', 'invoice', 'confirmation', 'other'] as const;
export type EvidenceType = (typeof evidenceTypes)[number];

/** Bursar checks the form only and never opens the address, so any host is allowed. */
export function isWebAddress(text: string): boolean {
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
}
