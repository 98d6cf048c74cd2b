/**
 * One intent: waits for the decision if a person has to make one, then for the payment, and expires at its deadline. A
 * recurring intent stays approved while its windows pass, and ends at its deadline or when it is cancelled.
 * @module
 */
import type { IntentActivities } from '../../activities/spending/intent.activities.ts';
import type { IntentRunView } from '../../src/domains/spending/intents/intent.messages.ts';
import { type IntentDue, type IntentFact, moveIntent } from '../../src/domains/spending/intents/intent.rules.ts';
import { inWords } from '../../src/kernel/money.ts';
import { type FollowedRun, followRow, type RunInput } from '../lib/follow-row.ts';
import { refusal } from '../lib/refusals.ts';
import { databaseSteps } from '../lib/steps.ts';

const { readIntent, decideIntent, expireIntent, endIntentWindow } = databaseSteps<IntentActivities>()({
  readIntent: 'Reading the intent',
  decideIntent: 'Carrying out the decision',
  expireIntent: 'Expiring the intent at its deadline',
  endIntentWindow: 'Ending a window that nothing has paid for',
});

const intentRun: FollowedRun<IntentRunView, IntentFact, IntentDue> = {
  refresh: readIntent,
  stage: ({ status }) => status,
  describe: (view) => `${amountOf(view)} for agent ${view.agentId}${chargeOf(view)}`,
  waitingFor: { decided: waitingForDecision, paid: waitingForPayment },
  outcome: ({ status }) => status,
  decide: {
    carryOut: decideIntent,
    refuse: ({ status, isMatched, transferId = null, openPaymentId, recurring }, { decision }) => {
      const matchedTransactionId = isMatched && transferId === null ? 'a payment' : null;
      const state = { status, matchedTransactionId, transferId, openPaymentId, isRecurring: recurring !== null };
      const move = moveIntent(state, decision, false);
      if (move.outcome === 'refused') throw refusal('invalid_state', move.why);
    },
  },
};

export const intentLifecycle = (input: RunInput): Promise<IntentRunView> =>
  followRow(intentRun, input, async ({ wait }) => {
    await wait('decided', { deadline: expireIntent });
    await wait('paid', { windowEnd: endIntentWindow, deadline: expireIntent });
  });

/** The approver has to know how much more than the declared amount a charge may take. */
function amountOf({ amountCents, maxChargeCents, recurring }: IntentRunView): string {
  const amount = `${inWords(amountCents)} EUR`;
  if (maxChargeCents === null || maxChargeCents <= amountCents) return amount;
  return `${amount} (at most ${inWords(maxChargeCents)} EUR${recurring === null ? '' : ' per charge'})`;
}

/** Where it was made from a declined charge: which one, and the rule with its figures. */
function chargeOf({ declined = null, amountCents }: IntentRunView): string {
  if (declined === null) return '';
  const { transactionId, merchantId, mcc, country, rule, limitCents, spentCents, isAllowed } = declined;
  const figures = [
    ...(limitCents === null ? [] : [`limit ${inWords(limitCents)}`]),
    ...(spentCents === null ? [] : [`spent ${inWords(spentCents)}`]),
    `asked ${inWords(amountCents)}`,
  ].join(', ');
  const what = isAllowed ? 'The owner allows once the charge' : 'For the charge';
  return `. ${what} ${transactionId} of merchant ${merchantId} (category ${mcc}, country ${country}), declined by ${rule}: ${figures}`;
}

/** The sentence names instants, not lengths of time: it is read hours after it was written. */
function waitingForDecision({ expiresAt, needsPasskey, approvalUrl }: IntentRunView): string {
  const page = approvalUrl === null ? '' : `\nThe approver's page: ${approvalUrl}`;
  const until = `until ${expiresAt} of business time, then it expires`;
  return needsPasskey
    ? `Waiting for a person to approve it with a passkey, or to deny it, ${until}. A signal cannot approve it.${page}`
    : `Waiting for a person to approve or deny it ${until}.${page}`;
}

function waitingForPayment({
  expiresAt,
  isMatched,
  transferId = null,
  openPaymentId,
  recurring,
  window,
}: IntentRunView): string {
  if (transferId !== null) return `Waiting for the end of transfer ${transferId}, which pays for it.`;
  if (isMatched) return 'Authorized, waiting for the clearing.';
  if (openPaymentId !== null) {
    return `Approved, and kept for payment ${openPaymentId}, which has not ended: its charge may still come. It neither expires nor is cancelled meanwhile; its deadline ${expiresAt} of business time counts again afterwards.`;
  }
  if (recurring === null) {
    return `Approved, waiting for the payment until ${expiresAt} of business time, then it expires.`;
  }
  const ends = `it ends at ${expiresAt} of business time`;
  if (window === null) return `Approved, ${recurring}: no window is left; ${ends}.`;
  const dueOn = window.dueAt.slice(0, 10);
  return `Approved, ${recurring}: next due on ${dueOn}, charged from ${window.from} until ${window.to}; ${ends}.`;
}
