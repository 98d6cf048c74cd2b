/** The public face of approvals: the page on which a person decides an intent. @module */
export { type ApprovalWire, approvalsArea } from './approval.contract.ts';
export { approvalPage } from './approval.page.ts';
export { type ApprovalDeps, approvalHandlers } from './approval.routes.ts';
export { approvedWithOf, passkeyState } from './approval.rules.ts';
