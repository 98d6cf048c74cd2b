/** Sample calls of the approver's link, for the suites that cover all operations. @module */
import { approvalsArea } from '../../../src/domains/identity/approvals/approval.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { thePasskey } from '../../support/factories/passkeys.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { freshIntent } from '../spending/intents.samples.ts';

/** The approver's link of a fresh intent that waits for approval. */
async function freshLink(one: Sampler) {
  const id = await freshIntent(one, 60);
  const { approvalUrl } = await one.client(intentsArea).getIntent({ params: { id } });
  return { as: 'nobody', path: { token: approvalUrl?.split('/').at(-1) ?? '' } } as const;
}

export const samples = samplesOf(approvalsArea, {
  ids: { token: 'public' },
  calls: (one) => ({
    getApproval: () => freshLink(one),
    createApprovalChallenge: async () => {
      await one.the(thePasskey);
      return freshLink(one);
    },
    approveByLink: async () => {
      const passkey = await one.the(thePasskey);
      const link = await freshLink(one);
      const challenge = await one.client(approvalsArea).createApprovalChallenge({ params: link.path, body: {} });
      return { ...link, body: { webauthnAssertion: passkey.answer(challenge) } };
    },
    denyByLink: () => freshLink(one),
  }),
  actsTwice: {
    createApprovalChallenge: 'the caller is anonymous and has no idempotency keys, and each challenge is a new one',
  },
  needsTemporal: ['approveByLink'],
});
