/** The public face of intents. @module */
export { type DeclareBody, type IntentWire, intentOut, intentsArea } from './intent.contract.ts';
export { IntentRow, type PolicyCheck } from './intent.entity.ts';
export {
  decideIntent,
  type IntentDecision,
  type IntentView,
  intentProcessId,
  parseDecision,
} from './intent.messages.ts';
export { findByClientId, findIntent, listIntents } from './intent.queries.ts';
export { type IntentDeps, intentHandlers } from './intent.routes.ts';
export {
  type IntentCommandKind,
  type IntentState,
  type IntentStatus,
  isFinalIntent,
  isPastDeadline,
  moveIntent,
  nextIntentStep,
} from './intent.rules.ts';
export {
  applyToIntent,
  cancelIntentsOf,
  type IntentCommand,
  insertIntent,
  lockIntent,
  type NewIntent,
  stateOf,
} from './intent.service.ts';
export { intentView, intentWire } from './intent.wire.ts';
