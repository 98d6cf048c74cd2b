/**
 * What a person orders from the page of a subscription about its retries: attempt them now, or give them up. The workflow
 * run of the subscription carries it out; the event and the audit row are written when it has answered.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { hasRetries, type LinkedWebhook } from '../../domains/delivery/webhook-pages/webhook-page.queries.ts';
import type { WebhookPageDeps } from '../../domains/delivery/webhook-pages/webhook-page.routes.ts';
import {
  type EndpointChange,
  endpointWorkflowId,
  giveUpWaiting,
  retryWaiting,
} from '../../domains/delivery/webhooks/endpoint.messages.ts';
import { recordChanges } from '../../events/record.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Message } from '../../kernel/message.ts';
import type { Cause } from '../../platform/cause.ts';
import type { WorkflowGateway } from '../../temporal/gateway.ts';

type Deps = { readonly database: Database; readonly gateway: Pick<WorkflowGateway, 'ask'> };

export const retryWaitingDeliveries =
  (deps: Deps): WebhookPageDeps['retry'] =>
  async (webhook, cause) => {
    if (webhook.status !== 'active') {
      throw new DomainError('invalid_state', `the subscription is ${webhook.status}, and nothing is sent`);
    }
    return command(deps, webhook, { message: retryWaiting, event: 'webhook_delivery.retried' }, cause);
  };

export const abandonWaitingDeliveries =
  (deps: Deps): WebhookPageDeps['abandon'] =>
  (webhook, cause) =>
    command(deps, webhook, { message: giveUpWaiting, event: 'webhook_delivery.abandoned' }, cause);

type Command = {
  readonly message: Message<EndpointChange, 'all'>;
  readonly event: 'webhook_delivery.retried' | 'webhook_delivery.abandoned';
};

/**
 * A process that dies between the answer and the record leaves the change without its audit row. The history of the run
 * then names the request: the id of the update is its cause.
 */
async function command(
  { database, gateway }: Deps,
  { id, ownerId }: LinkedWebhook,
  { message, event }: Command,
  cause: Cause,
): Promise<EndpointChange> {
  if (!(await hasRetries(database.read(), id))) throw nothingWaits();
  const { deliveries } = await gateway.ask(endpointWorkflowId(id), message, 'all', cause.causeId);
  if (deliveries === 0) throw nothingWaits();
  const data = { id, ownerId, deliveries };
  await database.write((tx) => recordChanges(tx, cause, [{ event, ownerId, subjectId: id, data }]));
  return { deliveries };
}

const nothingWaits = (): DomainError => new DomainError('invalid_state', 'no delivery waits for another attempt');
