/** Whose a fact is: the area that has to keep it, or `General` for what every operation keeps. @module */
export const general = 'General';

/** Path prefixes of the specification, longest first, each with the area that serves it. */
const areaOfPath: readonly (readonly [string, string])[] = [
  ['/agents/{id}/tokens', 'Agent Tokens'],
  ['/v1/agent-credentials', 'Pass-Through'],
  ['/v1/mpp', 'MPP'],
  ['/mpp', 'MPP'],
  ['/policies', 'Policies'],
  ['/checkout', 'Checkout'],
  ['/passkeys', 'Passkeys'],
  ['/webhooks', 'Webhooks'],
  ['/collect', 'Collect'],
  ['/outcomes', 'Outcomes'],
  ['/receipts', 'Receipts'],
  ['/analytics', 'Analytics'],
];

export function areaServing(path: string): string {
  const found = areaOfPath.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`));
  if (found === undefined) throw new Error(`no area is known to serve ${path}`);
  return found[1];
}

/** What the specification calls a subject, resource or event category, and the area that keeps it. */
const areaOfSubject: Readonly<Record<string, string>> = {
  Intent: 'Intents',
  intent: 'Intents',
  Card: 'Cards',
  Agent: 'Agents',
  Transaction: 'Transactions',
  Wallet: 'Wallets',
  'Payment request (collect)': 'Collect',
  'Collect (legacy `claim.*` namespace)': 'Collect',
  Dispute: 'Disputes',
  MPP: 'MPP',
  'MPP credential': 'MPP',
  'MPP pay result': 'MPP',
  'Checkout confirm result': 'Checkout',
  'Webhook subscription (creation response)': 'Webhooks',
  'WebAuthn assertion envelope': 'Passkeys',
  'Card limit request': 'Card Requests',
  Transfer: 'Transfers',
  Risk: 'Risk',
};

/** Events whose area is not that of their category. */
const areaOfEvent: Readonly<Record<string, string>> = {
  'transaction.refunded': 'Refunds',
  'card.funded': 'Agents',
  'wallet.funded': 'Fund',
  'verification.mismatch': 'Intents',
  'mobile_wallet.updated': 'Cards',
  'payment.updated': 'Transfers',
  'receipt.updated': 'Receipts',
  'bill.updated': 'Statements',
  'cardholder.updated': 'Customers',
};

export function areaOf(subject: string, event = ''): string {
  const area = areaOfEvent[event] ?? areaOfSubject[subject];
  if (area === undefined) throw new Error(`no area is known for ${subject} ${event}`);
  return area;
}

/** `Disputes, Evidence` and `Claim / Collect` name two; our tag of the last is `Collect`. */
export const areasNamed = (cell: string): string[] => cell.split(/, | \/ /).filter((name) => name !== 'Claim');
