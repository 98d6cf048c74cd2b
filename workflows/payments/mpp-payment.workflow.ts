/**
 * One machine payment (HTTP 402): the resource is requested, its challenge compared with intent and rules and a
 * credential minted, in one step that may be repeated; the credential is presented once, and the payment settled by the
 * charge. Without a charge the outcome is unknown: the run waits for the network, the merchant's verify, an operator, or
 * seven days. It never pays again.
 * @module
 */
import type { MppPaymentActivities } from '../../activities/payments/mpp-payment.activities.ts';
import {
  type MppPaymentView,
  parseResolution,
  payAtMerchant,
} from '../../src/domains/payments/mpp-payments/mpp-payment.messages.ts';
import {
  isPast,
  type MppPaymentDue,
  type MppPaymentFact,
} from '../../src/domains/payments/mpp-payments/mpp-payment.rules.ts';
import { inWords } from '../../src/kernel/money.ts';
import { type FollowedRun, followRow, type RunInput } from '../lib/follow-row.ts';
import { databaseSteps, onceSteps, outboundSteps } from '../lib/steps.ts';

const { readMppPayment, markMppPresentation, endMppPresentation, recordMppCharge, endMppSilence, resolveMppPayment } =
  databaseSteps<MppPaymentActivities>()({
    readMppPayment: 'Reading the payment',
    markMppPresentation: 'Noting that the credential is about to be sent',
    endMppPresentation: "Noting that the merchant's time to answer is up",
    recordMppCharge: 'Recording the charge',
    endMppSilence: 'Counting the payment as not paid',
    resolveMppPayment: 'Settling the payment by the word of an operator',
  });
const { obtainMppCredential } = outboundSteps<MppPaymentActivities>()({
  obtainMppCredential: 'Requesting the resource, comparing its challenge with the rules, and minting the credential',
});
const { presentMppCredential } = onceSteps<MppPaymentActivities>()({
  presentMppCredential: 'Presenting the credential to the merchant, once',
});

const mppPaymentRun: FollowedRun<MppPaymentView, MppPaymentFact, MppPaymentDue> = {
  refresh: readMppPayment,
  beginsWithStep: true,
  // No one waits in the states before, and the server writes each stage. The details say what is under way.
  stage: ({ status }) => (isPast(status, 'presenting') ? status : 'requested'),
  describe: ({ amountCents, agentId, intentId }) =>
    `${amountCents === null ? 'Machine payment' : `${inWords(amountCents)} EUR`} for agent ${agentId}, intent ${intentId}`,
  waitingFor: {
    minted:
      'Requesting the resource of the merchant, comparing its challenge with intent, policy and rules, and minting the credential. Nothing is spent.',
    answered: 'The credential is presented once. Waiting for the answer of the merchant.',
    settled: ({ chargeOutcome, merchantStatus, givenUpAt }) =>
      chargeOutcome !== null
        ? `The charge was ${chargeOutcome}. Recording it.`
        : `${merchantStatus === null ? 'The merchant gave no answer' : `The merchant answered ${merchantStatus}`}, and no charge has been seen. Waiting for the network, the merchant's verify or an operator's resolve; without them it counts as not paid at ${givenUpAt} of business time. It is never paid again.`,
  },
  outcome: ({ status, code }) => (code === null || status === 'paid' ? status : `${status} (${code})`),
  signal: {
    name: 'resolve',
    read: parseResolution,
    carryOut: resolveMppPayment,
    description: 'For operators: {"outcome":"paid","by":"your name"}; also "not-paid". Gives no answer.',
  },
  // Of the API of an older release; the present one waits for the row, which has the outcome sooner.
  ask: {
    message: payAtMerchant,
    isAnswered: ({ isAnswered }) => isAnswered,
    withinMs: 8_000, // Less than the API waits for one answer.
    description: 'Waits at most 8 s for the outcome, and answers with the state of the payment.',
  },
};

export const mppPayment = (input: RunInput): Promise<MppPaymentView> =>
  followRow(mppPaymentRun, input, async ({ step, once, wait }) => {
    await step('minted', obtainMppCredential);
    await once('answered', {
      send: presentMppCredential,
      claimsWhenDue: 'send',
      mark: markMppPresentation, // Of a payment whose credential was obtained by an older release.
      whenDue: { answer: endMppPresentation },
    });
    await wait('settled', { charge: recordMppCharge, silence: endMppSilence });
  });
