/**
 * The checkouts of one intent, one at a time: read the shop's offer, pay, and find out how it went however long that
 * takes. Keeps nothing that the row lacks; lost and started again it goes on from the row.
 * @module
 */
import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { CheckoutActivities, CheckoutNext } from '../../activities/payments/checkout.activities.ts';
import { type CheckoutView, payAsked } from '../../src/domains/payments/checkout/checkout.messages.ts';
import { isFinalCheckout } from '../../src/domains/payments/checkout/checkout.rules.ts';
import { inWords } from '../../src/kernel/money.ts';
import { currentDetails } from '../lib/current-details.ts';
import { onUpdate } from '../lib/messages.ts';
import { stageKeeper } from '../lib/stage.ts';
import { databaseSteps, outboundSteps } from '../lib/steps.ts';
import { subjectOf } from '../lib/subject.ts';
import { onWake } from '../lib/wake.ts';

const { nextCheckoutStep, readCheckout } = databaseSteps<CheckoutActivities>()({
  nextCheckoutStep: 'Reading the latest checkout',
  readCheckout: 'Reading the checkout',
});
const { readOffer, mintAndPay } = outboundSteps<CheckoutActivities>()({
  readOffer: 'Reading the offer of the shop',
  mintAndPay: 'Paying at the shop, under the same key each time',
});

/** Less than the API waits for the answer. */
const answerWithin = '8 seconds';

export async function checkout(input: { id: string }): Promise<CheckoutView | null> {
  const intentId = subjectOf(input);
  const details = currentDetails('Reading the checkout.');
  const showStage = stageKeeper();
  const asked = new Set<string>();
  const final = new Map<string, CheckoutView>();
  let woken = false;
  let latest: CheckoutView | null = null;

  const see = (view: CheckoutView): void => {
    latest = view;
    showStage(view.status);
    if (isFinalCheckout(view.status)) final.set(view.checkoutId, view);
  };
  const isAnybodyWaiting = (): boolean => [...asked].some((checkoutId) => !final.has(checkoutId));

  onUpdate('pay', {
    read: payAsked,
    handle: async ({ checkoutId }) => {
      asked.add(checkoutId);
      woken = true;
      await condition(() => final.has(checkoutId), answerWithin);
      asked.delete(checkoutId);
      return final.get(checkoutId) ?? (await readCheckout(checkoutId));
    },
    description: 'Pays the checkout {"checkoutId":"chk_…"}, and answers with what is known of it within 8 s.',
  });
  onWake(() => {
    woken = true;
  });

  for (;;) {
    woken = false; // Before asking, so that a wake during the question is not lost.
    const step: CheckoutNext = await nextCheckoutStep(intentId);
    if (step.view !== null) see(step.view);
    details.say(present(step));
    if (step.kind === 'read_offer' && step.view !== null) see(await readOffer(step.view.checkoutId));
    else if (step.kind === 'pay' && step.view !== null) see(await mintAndPay(step.view.checkoutId));
    else if (step.kind === 'wait') await condition(() => woken, step.waitMs);
    else if (isAnybodyWaiting()) await condition(() => !isAnybodyWaiting(), '1 second');
    else {
      await condition(allHandlersFinished);
      if (!woken) break; // Otherwise another checkout of the same intent has been asked for meanwhile.
    }
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof checkout>({ id: intentId });
    }
  }
  return latest;
}

function present({ kind, until, view }: CheckoutNext): string {
  if (view === null) return 'There is no checkout of this intent.';
  const amount = view.amountCents === null ? '' : ` ${inWords(view.amountCents)} EUR`;
  const by = `for ${view.agentId}.`;
  if (kind === 'read_offer') return `Reading the shop's offer ${by}`;
  if (kind === 'pay') return `Paying${amount} ${by}`;
  if (kind === 'wait')
    return `The outcome of${amount} ${by.slice(0, -1)} is not known yet; the shop is asked again at ${until} of business time.`;
  const why = view.code === null || view.status === 'paid' ? '' : ` (${view.code})`;
  return `Done: ${view.status}${why},${amount} ${by}`;
}
