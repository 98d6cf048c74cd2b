/** The public face of delivery: who must hear. @module */
import { WebhookRow } from './webhooks/webhook.entity.ts';

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
export { attemptTimeoutMs, createSender, type Result, type SendDelivery } from './webhooks/delivery.send.service.ts';
export {
  type BatchOutcome,
  type EndpointChange,
  type EndpointNext,
  type EndpointView,
  endpointWorkflowId,
} from './webhooks/endpoint.messages.ts';
export { giveUpEndpoint, readEndpoint, retryEndpointNow } from './webhooks/endpoint.service.ts';
export { webhooksArea } from './webhooks/webhook.contract.ts';
export { webhookHandlers } from './webhooks/webhook.routes.ts';

export const deliveryEntities = [WebhookRow] as const;
