/** The ways of a machine payment: paid, refused before anything is sent, and not known until an operator says so. @module */
import { randomUUID } from 'node:crypto';
import { Refused } from '../../../src/client/client.ts';
import { mppPaymentsArea } from '../../../src/domains/payments/mpp-payments/mpp-payment.contract.ts';
import { anMppPaymentRun } from '../../support/mpp-payment-run.ts';
import type { Actors, Declared } from '../../support/record/actors.ts';
import { namesOf as intentNames, intentRun, of } from '../../support/record/purchase.ts';
import { type Journey, type Played, type Stage, until, type WorkflowJourneys } from '../../support/record/stage.ts';

const ended = (journey: string, workflowId: string): Played => ({ workflow: 'mppPayment', journey, workflowId });
const runOf = ({ runOf: find }: Stage, { agentId }: Declared): Promise<string> => find('mppPayment', agentId);
const namesOf = (workflowId: string, { agentId, intentId }: Declared) => ({
  agent: agentId,
  subject: workflowId.replace('mpp-payment/', ''),
  intent: intentId,
});

const payAt = (
  { sandboxUrl }: Stage,
  { client }: Actors,
  { intentId, cardId }: Declared,
  [merchant, amountCents]: readonly [string, number],
) =>
  client(mppPaymentsArea).payAtMerchant({
    body: { url: `${sandboxUrl}/paid/${merchant}?amountCents=${amountCents}`, intentId, cardId },
    headers: { 'Idempotency-Key': randomUUID() },
  });

const paid: Journey = async (stage, actors) => {
  const declared = await actors.declare(13.5);
  await payAt(stage, actors, declared, ['sandbox-api', 1_350]);
  const id = await runOf(stage, declared);
  await stage.observe('mppPayment: paid', id, namesOf(id, declared));
  return [ended('paid', id)];
};

const refused: Journey = async (stage, actors) => {
  const declared = await actors.declare(13);
  try {
    await payAt(stage, actors, declared, ['sandbox-api', 1_301]);
    throw new Error('a challenge dearer than its intent was paid');
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 400) throw error;
  }
  const id = await runOf(stage, declared);
  await stage.observe('mppPayment: refused', id, namesOf(id, declared));
  await actors.intents.cancelIntent(of(declared));
  return [ended('refused', id)];
};

const resolved: Journey = async (stage, actors) => {
  const declared = await actors.declare(14);
  const { payment_id: paymentId } = await payAt(stage, actors, declared, ['sandbox-gives-away', 1_400]);
  const id = await runOf(stage, declared);
  await stage.observe('mppPayment: accepted', id, namesOf(id, declared));
  const [intent, names] = [intentRun(declared), { ...intentNames(declared), payment: paymentId }];
  await stage.observe('intentLifecycle: kept for a payment', intent, names);
  await stage.signal(intent, { decision: 'cancel', by: 'anna' });
  await stage.observe('intentLifecycle: kept for a payment, then cancelled in vain', intent, names);
  await stage.signal(id, { outcome: 'not-paid', by: 'anna' }, 'resolve');
  await until(
    () => actors.client(mppPaymentsArea).getMppPayment({ params: { id: paymentId as 'mpay_x' } }),
    ({ status }) => status === 'not_paid',
    'the payment to be settled',
  );
  await stage.observe('mppPayment: not paid', id, namesOf(id, declared));
  await actors.intents.cancelIntent(of(declared));
  return [ended('resolved', id)];
};

export const journeys: WorkflowJourneys = {
  workflows: {
    mppPayment: {
      queue: 'main',
      id: 'mpp-payment/{subject}',
      summary: '{euros} EUR. Machine payment {subject} of agent {agent}: paid once by credential, or known not to be',
      hasAgent: true,
      histories: ['paid', 'refused', 'resolved'],
      stages: {
        paid: {
          stage: 'paid',
          status: 'COMPLETED',
          details: ['13.50 EUR for agent {agent}, intent {intent}. Done: paid.'],
        },
        refused: {
          stage: 'refused',
          status: 'COMPLETED',
          details: ['13.01 EUR for agent {agent}, intent {intent}. Done: refused (challenge_amount).'],
        },
        accepted: {
          stage: 'accepted',
          status: 'RUNNING',
          details: [
            "14.00 EUR for agent {agent}, intent {intent}. The merchant answered 200, and no charge has been seen. Waiting for the network, the merchant's verify or an operator's resolve; without them it counts as not paid at {time} of business time. It is never paid again.",
          ],
        },
        'not paid': {
          stage: 'not_paid',
          status: 'COMPLETED',
          details: ['14.00 EUR for agent {agent}, intent {intent}. Done: not_paid (resolved_not_paid).'],
        },
      },
    },
  },
  journeys: [paid, refused, resolved],
  waiting: (seen) => ({
    readMppPayment: async (id) => anMppPaymentRun(seen(id), 'unknown'),
    // Its first step finds it there.
    obtainMppCredential: async (id) => anMppPaymentRun(seen(id), 'unknown'),
  }),
};
