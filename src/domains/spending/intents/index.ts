/** The public interface of intents. @module */

export { recordAttestation, refuseSettled, voidAttestationsOf } from './intent.attestation.service.ts';
export { cancelIntentsOf } from './intent.cancel.service.ts';
export { intentsArea } from './intent.contract.ts';
export { IntentRow, IntentSchema } from './intent.entity.ts';
export { type LockedIntent, lockIntent, lockIntentFor } from './intent.lock.service.ts';
export { decideIntent, type IntentRunView, intentWorkflowId } from './intent.messages.ts';
export { findByClientId, findIntent, holderOf } from './intent.queries.ts';
export { type CardChange, reassignIntents } from './intent.reassign.service.ts';
export {
  type IntentCommandKind,
  type IntentDue,
  type IntentFact,
  type IntentStatus,
  intentFacts,
  isFinalIntent,
  moveIntent,
  statusAsOf,
  whyUnpayable,
} from './intent.rules.ts';
export {
  applyToIntent,
  applyToLockedIntent,
  type IntentCommand,
  insertIntent,
  type NewIntent,
} from './intent.service.ts';
export { refusePastDeadline, refuseUnpayable, stateOf } from './intent.state.service.ts';
export { intentEventData, intentView, windowEventData } from './intent.wire.ts';
export type { DeclareBody, VerifyBody } from './intent-declaration.contract.ts';
export { matchableIntent, scheduleOf } from './matchable-intent.rules.ts';
export { maxChargeCentsOf } from './max-charge.queries.ts';
export { mismatchesOf } from './verification.rules.ts';
export { noteVerified } from './verification.service.ts';
export { type TakenWindow, windowAt, windowNumbered } from './windows/recurrence.rules.ts';
export { IntentWindowSchema } from './windows/window.entity.ts';
export {
  isBetweenWindows,
  refuseBetweenWindows,
  refuseClosedWindow,
  windowOfNow,
} from './windows/window.now.service.ts';
export { latestCompletedWindow, latestMatchedWindow } from './windows/window.queries.ts';
export { completeWindowNow, endWindows, payWindowAgain, settleWindow } from './windows/window.service.ts';
