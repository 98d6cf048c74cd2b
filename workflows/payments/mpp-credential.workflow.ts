/**
 * One MPP credential: it is minted, and then waits until the network's authorization or the merchant uses it, or until
 * its time is over. The credential of a payment is minted by the workflow of the payment. Its expiry is real time.
 * @module
 */
import type { MppCredentialActivities } from '../../activities/payments/mpp-credential.activities.ts';
import {
  type MppCredentialView,
  mintMppCredential as mintMessage,
} from '../../src/domains/payments/mpp-credentials/mpp-credential.messages.ts';
import type { CredentialDue, CredentialFact } from '../../src/domains/payments/mpp-credentials/mpp-credential.rules.ts';
import { inWords } from '../../src/kernel/money.ts';
import { type FollowedRun, followRow, type RunInput } from '../lib/follow-row.ts';
import { databaseSteps, outboundSteps } from '../lib/steps.ts';

const { readMppCredential, expireMppCredential } = databaseSteps<MppCredentialActivities>()({
  readMppCredential: 'Reading the credential',
  expireMppCredential: 'Marking the credential as expired',
});
const { mintMppCredential } = outboundSteps<MppCredentialActivities>()({
  mintMppCredential: 'Minting the credential, under the same key each time',
});

const mppCredentialRun: FollowedRun<MppCredentialView, CredentialFact, CredentialDue> = {
  refresh: readMppCredential,
  stage: ({ status }) => status,
  describe: ({ amountCents, agentId, intentId }) =>
    `${inWords(amountCents)} EUR for agent ${agentId}, intent ${intentId}`,
  waitingFor: {
    minted: 'Minting the credential.',
    ended: ({ expiresAt }) => `Waiting for the merchant to use the credential, until ${expiresAt}.`,
  },
  outcome: ({ status, code }) => (status === 'declined' || status === 'refused' ? `${status} (${code})` : status),
  ask: {
    message: mintMessage,
    isAnswered: ({ status }) => status !== 'requested',
    description: 'Waits until the credential is minted or refused, and answers with its state.',
  },
};

export const mppCredential = (input: RunInput): Promise<MppCredentialView> =>
  followRow(mppCredentialRun, input, async ({ step, wait }) => {
    await step('minted', mintMppCredential);
    await wait('ended', { expiry: expireMppCredential });
  });
