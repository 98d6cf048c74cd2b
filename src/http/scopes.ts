/** The closed list of agent-token scopes, and what `*` stands for. @module */
export const scopes = [
  'agents.read',
  'wallets.read',
  'policies.read',
  'intents.read',
  'intents.write',
  'evidence.read',
  'evidence.write',
  'cards.read',
  'cards.write',
  'cards.reveal',
  'checkout.write',
  'credentials.write',
  'transactions.read',
  'transactions.write',
  'ledger.read',
  'transfers.read',
  'transfers.write',
  'beneficiaries.read',
  'refunds.read',
  'receipts.read',
  'receipts.write',
  'disputes.read',
  'disputes.write',
  'mpp.read',
  'mpp.write',
  'collect.read',
  'collect.write',
  'collect.pay',
  'merchants.read',
  'access.read',
  'risk.read',
  'analytics.read',
  'outcomes.read',
  'outcomes.write',
  'runs.read',
  'runs.write',
  'events.read',
  'canvas.use',
  'delegations.write',
  'operations.call',
] as const;
export type Scope = (typeof scopes)[number];

/**
 * Scopes that `*` does not include: they show card numbers, move money out, delegate authority, or open every other
 * operation to an MCP client.
 */
const neverImplied: readonly Scope[] = [
  'cards.reveal',
  'transfers.write',
  'collect.pay',
  'delegations.write',
  'operations.call',
];

export function grants(held: readonly string[], wanted: Scope): boolean {
  return held.includes(wanted) || (held.includes('*') && !neverImplied.includes(wanted));
}
