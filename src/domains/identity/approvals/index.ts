/** The public interface of approvals: the registry of what a person approves, with its link, challenge and messages. @module */
export { type ApprovalWire, approvalsArea, type DecisionEvents, withDecisionEvents } from './approval.contract.ts';
export type { ApprovalDeps } from './approval.routes.ts';
export { approvedWithOf, passkeyState } from './approval.rules.ts';
export { type ApprovalLinks, createApprovalLinks, subjectBehind } from './approval-link.service.ts';
export {
  type ApprovalCase,
  type ApprovalSubject,
  type ApprovalSubjects,
  type Ending,
  subjectOfId,
} from './approval-subject.ts';
export type { ApproverChanges, Decision } from './decision.messages.ts';
export { askedAs, signDecision, verifyDecision } from './decision-signature.ts';
