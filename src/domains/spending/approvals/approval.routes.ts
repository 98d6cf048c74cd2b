/** Answers what a person does under a link: the link finds the intent, the use case does the rest. No decision is made here. @module */
import type { Call } from '../../../http/caller.ts';
import type { Handlers } from '../../../http/route.ts';
import type { AssertionEnvelope, PasskeyChallenge } from '../../../http/webauthn.ts';
import type { ApprovalWire, approvalsArea } from './approval.contract.ts';

export type ApprovalDeps = {
  /** Each throws `not_found` for a link that is none. */
  readonly read: (token: string, call: Call) => Promise<ApprovalWire>;
  readonly challenge: (token: string, call: Call) => Promise<PasskeyChallenge>;
  readonly approve: (token: string, envelope: AssertionEnvelope, call: Call) => Promise<ApprovalWire>;
  readonly deny: (token: string, reason: string | undefined, call: Call) => Promise<ApprovalWire>;
};

export const approvalHandlers = ({ read, challenge, approve, deny }: ApprovalDeps): Handlers<typeof approvalsArea> => ({
  getApproval: ({ params }, call) => read(params.token, call),
  createApprovalChallenge: ({ params }, call) => challenge(params.token, call),
  approveByLink: ({ params, body }, call) => approve(params.token, body.webauthnAssertion, call),
  denyByLink: ({ params, body }, call) => deny(params.token, body.reason, call),
});
