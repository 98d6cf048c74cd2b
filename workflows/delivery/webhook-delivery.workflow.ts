/**
 * One delivery from its failed first attempt to its end: waits out the gaps, attempts again, and stops when it is
 * delivered, exhausted or a dead letter. Keeps nothing that the row lacks.
 * @module
 */
import { condition, continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { WebhookDeliveryActivities } from '../../activities/delivery/webhook-delivery.activities.ts';
import {
  type DeliveryNext,
  type DeliveryView,
  stageOf,
} from '../../src/domains/delivery/webhooks/delivery.messages.ts';
import { waitForPlaceMs } from '../../src/domains/delivery/webhooks/delivery.rules.ts';
import type { Id } from '../../src/kernel/ids.ts';
import { deliveryStep } from '../lib/activity-options.ts';
import { currentDetails } from '../lib/current-details.ts';
import { databaseSteps } from '../lib/database-steps.ts';
import { stageKeeper } from '../lib/stage.ts';
import { onWake } from '../lib/wake.ts';

const { nextWebhookDeliveryStep } = databaseSteps<WebhookDeliveryActivities>();
const { attemptWebhookDelivery } = proxyActivities<WebhookDeliveryActivities>(deliveryStep);

export async function webhookDelivery({ id }: { id: Id<'delivery'> }): Promise<DeliveryView> {
  const details = currentDetails('Reading the delivery.');
  const showStage = stageKeeper();
  let woken = false;
  let vainLooks = 0;
  onWake(() => {
    woken = true;
  });

  for (;;) {
    woken = false; // Before asking, so that a wake during the question is not lost.
    const step = await nextWebhookDeliveryStep(id);
    showStage(stageOf[step.view.status]);
    details.say(inWords(step));
    if (step.kind === 'final') return step.view;
    if (step.kind === 'wait') await condition(() => woken, step.waitMs);
    else if (await attemptWebhookDelivery(id)) vainLooks = 0;
    else await condition(() => woken, waitForPlaceMs(vainLooks++));
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof webhookDelivery>({ id });
  }
}

function inWords({ kind, until, view }: DeliveryNext): string {
  const subject = `${view.event} to ${view.webhookId}`;
  const last = view.lastStatus === null ? 'no answer' : `HTTP ${view.lastStatus}`;
  const next = `attempt ${view.attemptsMade + 1} of ${view.maxAttempts}`;
  if (kind === 'final') return `Done: ${stageOf[view.status]} after ${view.attemptsMade} attempts. ${subject}.`;
  if (kind === 'attempt') return `Now ${next}. ${subject}; last: ${last}.`;
  return `Waiting until ${until} of business time for ${next}. ${subject}; last: ${last}.`;
}
