/** The public interface of delivery: subscriptions and the delivery of events to them. @module */
export {
  type Claimed,
  type ClaimLimits,
  claimFirstAttempts,
  claimRetries,
  closedReceiversWithWork,
  releaseExpired,
} from './webhooks/delivery.claim.service.ts';
export { endPendingOf } from './webhooks/delivery.end.service.ts';
export { recordResults } from './webhooks/delivery.result.service.ts';
export { createSender, type Result, type SendDelivery } from './webhooks/delivery.send.service.ts';
export {
  type BatchOutcome,
  type EndpointChange,
  type EndpointNext,
  endpointWorkflowId,
} from './webhooks/endpoint.messages.ts';
export { webhooksArea } from './webhooks/webhook.contract.ts';
