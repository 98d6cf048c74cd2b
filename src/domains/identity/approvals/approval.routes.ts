/** Answers the operations of an approver's link: the link finds the record, the use case does the rest. No decision is made here. @module */
import type { Call } from '../../../http/caller.ts';
import type { Handlers } from '../../../http/route.ts';
import type { AssertionEnvelope, PasskeyChallenge } from '../../../http/webauthn.ts';
import type { ApprovalWire, approvalsArea } from './approval.contract.ts';
import type { ApproverChanges } from './decision.messages.ts';

type Approval = { readonly webauthnAssertion: AssertionEnvelope; readonly changes?: ApproverChanges | undefined };

export type ApprovalDeps = {
  /** Each throws `not_found` for an unknown link. */
  readonly read: (token: string, call: Call) => Promise<ApprovalWire>;
  readonly challenge: (token: string, changes: ApproverChanges | undefined, call: Call) => Promise<PasskeyChallenge>;
  readonly approve: (token: string, approval: Approval, call: Call) => Promise<ApprovalWire>;
  readonly deny: (token: string, reason: string | undefined, call: Call) => Promise<ApprovalWire>;
};

export const approvalHandlers = ({ read, challenge, approve, deny }: ApprovalDeps): Handlers<typeof approvalsArea> => ({
  getApproval: ({ params }, call) => read(params.token, call),
  createApprovalChallenge: ({ params, body }, call) => challenge(params.token, body.changes, call),
  approveByLink: ({ params, body }, call) => approve(params.token, body, call),
  denyByLink: ({ params, body }, call) => deny(params.token, body.reason, call),
});
