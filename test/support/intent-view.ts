/** An intent as its run sees it, for workflows whose activities are played by the test. @module */
import type { IntentRun } from '../../activities/spending/intent.activities.ts';
import type { IntentRunView } from '../../src/domains/spending/intents/intent.messages.ts';
import { intentFacts } from '../../src/domains/spending/intents/intent.rules.ts';

export const anIntentView = (intentId: string, status: IntentRunView['status']): IntentRunView => ({
  intentId: intentId as IntentRunView['intentId'],
  status,
  isMatched: false,
  transferId: null,
  openPaymentId: null,
  expiresAt: '2026-03-01T12:00:00.000Z',
  amountCents: 1_250,
  agentId: 'ag_aaaaaaaa',
  approvedBy: null,
  recurring: null,
  window: null,
  approvalUrl: null,
  needsPasskey: false,
  maxChargeCents: null,
});

/** As the activities answer with it; `deadlineInMs` from now. */
export function anIntentRun(
  intentId: string,
  status: IntentRunView['status'],
  { deadlineInMs = 3_600_000, version = 1 }: { readonly deadlineInMs?: number; readonly version?: number } = {},
): IntentRun {
  const now = new Date();
  const expiresAt = new Date(now.getTime() + deadlineInMs);
  const facts = intentFacts(
    { status, matchedTransactionId: null, transferId: null, openPaymentId: null, isRecurring: false, expiresAt },
    now,
  );
  return { version, ...facts, view: anIntentView(intentId, status) };
}
