/** What an access event may be about, and its decisions. Pure. @module */
export const accessKinds = ['card_access', 'card_reveal', 'gdpr_delete', 'secret_reveal'] as const;
export type AccessKind = (typeof accessKinds)[number];

export const accessDecisions = ['granted', 'denied'] as const;
export type AccessDecision = (typeof accessDecisions)[number];
