/**
 * What a person orders from the page of a subscription about its retries: attempt them now, or give them up. The workflow
 * run of the subscription carries it out; the request is recorded before.
 * @module
 */
import type { WebhookPageDeps } from '../../domains/delivery/webhook-pages/webhook-page.routes.ts';
import { endpointWorkflowId, giveUpWaiting, retryWaiting } from '../../domains/delivery/webhooks/endpoint.messages.ts';
import type { WorkflowGateway } from '../../temporal/gateway.ts';

type Deps = { readonly gateway: Pick<WorkflowGateway, 'ask'> };

/** What the run answers is not passed on: a step that is repeated after a fault counts what its first run left. */
const ordering =
  (message: typeof retryWaiting) =>
  ({ gateway }: Deps): WebhookPageDeps['retry'] =>
  async (webhookId, { causeId }) =>
    void (await gateway.ask(endpointWorkflowId(webhookId), message, 'all', causeId));

export const retryWaitingDeliveries = ordering(retryWaiting);
export const abandonWaitingDeliveries = ordering(giveUpWaiting);
