/** An intent as its run sees it, for workflows whose activities are played by the test. @module */
import type { IntentView } from '../../src/domains/spending/intents/intent.messages.ts';

export const anIntentView = (intentId: string, status: IntentView['status']): IntentView => ({
  intentId: intentId as IntentView['intentId'],
  status,
  isMatched: false,
  expiresAt: '2026-03-01T12:00:00.000Z',
  amountCents: 1_250,
  agentId: 'ag_aaaaaaaa',
  approvedBy: null,
});
