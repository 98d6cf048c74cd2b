/** The public interface of approvals: the registry of what a person approves, with its link, challenge and messages. @module */
export type { ApprovalLinks } from './approval-link.service.ts';
export type { ApproverChanges } from './decision.messages.ts';
