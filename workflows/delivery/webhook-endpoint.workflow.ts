/**
 * The retries of one subscription, from its first failed delivery until none waits. A loop, because its facts can be
 * undone: deliveries fail and wait again at any time. Each delivery has its own schedule in its row; the run stores
 * nothing that is not in the rows.
 * @module
 */
import { allHandlersFinished, condition } from '@temporalio/workflow';
import type { WebhookEndpointActivities } from '../../activities/delivery/webhook-endpoint.activities.ts';
import {
  type EndpointChange,
  type EndpointNext,
  type EndpointTarget,
  type EndpointView,
  giveUp,
  parseEndpointTarget,
  retryNow,
} from '../../src/domains/delivery/webhooks/endpoint.messages.ts';
import { waitForPlaceMs } from '../../src/domains/delivery/webhooks/endpoint.rules.ts';
import type { Id } from '../../src/kernel/ids.ts';
import type { Ignored } from '../../src/kernel/message.ts';
import { continueIfHistoryIsLong, isHistoryLong } from '../lib/continue-as-new.ts';
import { currentDetails } from '../lib/current-details.ts';
import { onSignal, onUpdate } from '../lib/messages.ts';
import { refusal } from '../lib/refusals.ts';
import { stageKeeper } from '../lib/stage.ts';
import { databaseSteps, deliverySteps } from '../lib/steps.ts';
import { subjectOf } from '../lib/subject.ts';
import { onWake } from '../lib/wake.ts';

const { readWebhookEndpoint, retryDeliveriesNow, giveUpDeliveries } = databaseSteps<WebhookEndpointActivities>()({
  readWebhookEndpoint: 'Reading the deliveries that wait',
  retryDeliveriesNow: 'Making waiting deliveries due now',
  giveUpDeliveries: 'Ending waiting deliveries',
});
const { attemptDueDeliveries } = deliverySteps<WebhookEndpointActivities>()({
  attemptDueDeliveries: 'Attempting the deliveries that are due',
});

type Change = (id: Id<'webhook'>, deliveryId: Id<'delivery'> | null) => Promise<EndpointChange>;

export async function webhookEndpoint(input: { id: Id<'webhook'> }): Promise<EndpointView> {
  const id = subjectOf(input);
  const details = currentDetails('Reading what waits.');
  const showStage = stageKeeper();
  let isStale = false;
  let vainLooks = 0;

  /** The same as update and as signal: the update is answered, and what came of a signal stands in the details. */
  const handle = (message: string, change: Change, description: string): void => {
    const read = (sent: unknown): EndpointTarget | Ignored => parseEndpointTarget(message, sent);
    const carryOut = async ({ deliveryId }: EndpointTarget): Promise<EndpointChange> => {
      const changed = await change(id, deliveryId);
      isStale = true;
      if (changed.deliveries === 0 && deliveryId !== null) {
        throw refusal('invalid_state', `${deliveryId} does not wait for another attempt here`);
      }
      return changed;
    };
    onUpdate(message, { read, handle: carryOut, description });
    onSignal(message, {
      read,
      handle: async (target) => details.note(`${message}: ${counted((await carryOut(target)).deliveries)}`),
      note: details.note,
      description,
    });
  };

  handle(retryNow, retryDeliveriesNow, `Attempts waiting deliveries now: all, or {"delivery":"whd_…"}.`);
  handle(giveUp, giveUpDeliveries, `Ends waiting deliveries for good: all, or {"delivery":"whd_…"}.`);
  onWake(() => {
    isStale = true;
  });

  const wait = (ms: number): Promise<boolean> =>
    // Ignored messages start no attempt, and fill the history too.
    condition(() => isStale || isHistoryLong(), ms, { summary: 'until the next attempt' });

  for (;;) {
    isStale = false; // Before reading, so that a wake during it is not lost.
    const next = await readWebhookEndpoint(id);
    showStage(next.view.stage);
    details.say(describe(next));
    if (next.kind === 'final') {
      await condition(allHandlersFinished);
      if (!isStale) return next.view; // Otherwise a delivery has failed meanwhile.
    } else if (next.kind === 'wait') {
      await wait(next.waitMs);
    } else {
      const { attempted } = next.kind === 'attempt' ? await attemptDueDeliveries(id) : { attempted: 0 };
      if (attempted > 0) vainLooks = 0;
      else await wait(waitForPlaceMs(vainLooks++));
    }
    if (isHistoryLong()) await continueIfHistoryIsLong(id);
  }
}

function describe({ kind, view }: EndpointNext): string {
  const { webhookId, stage, waiting, underWay } = view;
  if (kind === 'final') return `Done: no delivery to ${webhookId} waits for another attempt.`;
  const sentences = [
    waiting === 0
      ? ''
      : `${counted(waiting)} to ${webhookId} ${waiting === 1 ? 'waits' : 'wait'}, the oldest since ${view.oldestAt}.`,
    underWay === 0 ? '' : `${underWay} under way to ${webhookId}.`,
    `Last failure: ${lastFailure(view)}.`,
    stage === 'probing'
      ? 'After five attempts in a row without an answer the receiver gets one request at a time; what waits keeps its attempts.'
      : '',
    nextAttempt(kind, view),
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function nextAttempt(kind: EndpointNext['kind'], { stage, nextAttemptAt, waiting }: EndpointView): string {
  if (stage === 'paused') return 'The subscription is paused: nothing is sent.';
  if (kind === 'attempt') return 'Attempting those that are due.';
  if (kind === 'full') return 'Waiting for a free place among the requests to this receiver.';
  return waiting === 0 ? 'Waiting for the results.' : `Next attempt at ${nextAttemptAt} of business time.`;
}

function lastFailure({ lastStatus, lastOutcome }: EndpointView): string {
  if (lastStatus !== null) return `HTTP ${lastStatus}`;
  return lastOutcome === 'timeout' ? 'no answer in time' : 'no answer';
}

const counted = (deliveries: number): string => `${deliveries} ${deliveries === 1 ? 'delivery' : 'deliveries'}`;
