/** What a trace consists of, and who may see which part: what the part's own operation demands. Pure. @module */

export const traceParts = [
  'declaration',
  'decision',
  'approval',
  'record',
  'checkout',
  'machine_payment',
  'credential',
  'access',
  'transaction',
  'charge_decision',
  'network_message',
  'posting',
  'evidence',
  'event',
  'delivery',
  'workflow_run',
] as const;
export type TracePart = (typeof traceParts)[number];

/** Of a part that is missing, or is not complete. */
export const omissions = ['scope', 'owner_only', 'too_many'] as const;
export type Omission = (typeof omissions)[number];

/** So many rows of a part at most; the newest are kept. */
export const mostOfPart = 50;
/** Of events and of deliveries. */
export const mostEvents = 200;

/** The scope of the operation that reads this part alone. `owner`: an agent's token reads it nowhere. */
export const scopeOfPart = {
  declaration: 'intents.read',
  decision: 'intents.read',
  approval: 'intents.read',
  record: 'intents.read', // Reached only with the scope of the record's kind.
  checkout: 'checkout.write',
  machine_payment: 'mpp.read',
  credential: 'mpp.read',
  access: 'access.read',
  transaction: 'transactions.read',
  charge_decision: 'transactions.read',
  network_message: 'transactions.read',
  posting: 'ledger.read',
  evidence: 'evidence.read',
  event: 'events.read',
  delivery: 'owner',
  workflow_run: 'intents.read',
} as const satisfies Record<TracePart, string>;

/** The scope of the operation that reads one record of this kind; of a kind that is not here, only the owner may. */
export const scopeOfKind = {
  intent: 'intents.read',
  checkout: 'checkout.write',
  mppPayment: 'mpp.read',
  mppCredential: 'mpp.read',
  protectRule: 'mpp.read',
  transaction: 'transactions.read',
  journal: 'ledger.read',
  entry: 'ledger.read',
  transfer: 'transfers.read',
  transferSplit: 'transfers.read',
  beneficiary: 'beneficiaries.read',
  evidence: 'evidence.read',
  accessEvent: 'access.read',
  card: 'cards.read',
  cardRequest: 'cards.read',
  agent: 'agents.read',
  wallet: 'wallets.read',
  event: 'events.read',
} as const;

/** Where the story of a record is: the field of its row that names the record it belongs to. */
export const pointerOfKind: Readonly<Record<string, string>> = {
  checkout: 'intentId',
  mppPayment: 'intentId',
  mppCredential: 'intentId',
  transaction: 'intentId',
  evidence: 'intentId',
  accessEvent: 'intentId',
  transfer: 'splitId',
  entry: 'referenceId',
  journal: 'referenceId',
  event: 'subjectId',
  delivery: 'eventId',
};

/** Parts in the order in which they follow from each other, for what happened at the same instant. */
export const rankOf = (part: TracePart): number => traceParts.indexOf(part);
