/** The ways of a checkout: paid, declined, refused, passed to a machine payment, and not known for a while. @module */

import { Refused } from '../../../src/client/client.ts';
import { day, second } from '../../../src/kernel/instant.ts';
import { aCheckoutRun } from '../../support/checkout-run.ts';
import type { Actors, Declared } from '../../support/record/actors.ts';
import {
  checkoutNames,
  checkoutRun,
  execute,
  intentRun,
  namesOf,
  of,
  reaches,
  shopUrl,
} from '../../support/record/purchase.ts';
import { type Journey, type Played, type Stage, until, type WorkflowJourneys } from '../../support/record/stage.ts';

const ended = (journey: string, workflowId: string): Played => ({ workflow: 'checkout', journey, workflowId });

const paid: Journey = async (stage, actors) => {
  const declared = await actors.declare(12.5);
  await execute(actors, declared, shopUrl(stage, 'sandbox-shop', 1_250));
  const id = await checkoutRun(stage, declared);
  await stage.observe('checkout: paid', id, checkoutNames(id, declared));
  return [ended('paid', id)];
};

/** The rule has to change after the offer was evaluated: otherwise the network is not asked. */
const declined: Journey = async (stage, actors) => {
  const declared = await actors.declare(20);
  const params = { agentId: declared.agentId };
  await recoverShop(stage, actors, declared, () =>
    actors.policies.updateAgentPolicy({ params, body: { blockedMccs: ['5734'] } }),
  );
  await execute(actors, declared, stage.shop.offerUrl(2_000));
  const id = await checkoutRun(stage, declared);
  await stage.observe('checkout: declined', id, checkoutNames(id, declared));
  await stage.observe('intentLifecycle: failed', intentRun(declared), namesOf(declared));
  const intent = { workflow: 'intentLifecycle', journey: 'failed', workflowId: intentRun(declared) };
  return [ended('declined', id), intent];
};

async function recoverShop(stage: Stage, actors: Actors, declared: Declared, before?: () => Promise<unknown>) {
  const { cardRef = '' } = await actors.cards.getCard({ params: { cardId: declared.cardId } });
  const { apiUrl, networkKey } = stage;
  stage.shop.recover({ apiUrl, networkKey, cardRef, ...(before === undefined ? {} : { before }) });
}

const refused: Journey = async (stage, actors) => {
  const declared = await actors.declare(10);
  try {
    await execute(actors, declared, shopUrl(stage, 'sandbox-shop', 1_001));
    throw new Error('an offer dearer than its intent was paid');
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 400) throw error;
  }
  const id = await checkoutRun(stage, declared);
  await stage.observe('checkout: refused', id, checkoutNames(id, declared));
  await actors.intents.cancelIntent(of(declared));
  return [ended('refused', id)];
};

const handedOver: Journey = async (stage, actors) => {
  const declared = await actors.declare(17.5);
  const { paymentId } = await execute(actors, declared, `${stage.sandboxUrl}/paid/sandbox-api?amountCents=1750`);
  const id = await checkoutRun(stage, declared);
  await stage.observe('checkout: handed over', id, {
    ...checkoutNames(id, declared),
    payment: paymentId ?? 'none',
  });
  return [ended('handed-over', id)];
};

const unknownThenPaid: Journey = async (stage, actors) => {
  const declared = await actors.declare(15);
  const before = stage.shop.asked();
  const paying = execute(actors, declared, stage.shop.offerUrl(1_500));
  await until(
    async () => stage.shop.asked(),
    (asked) => asked > before,
    'the shop to be asked for the payment',
  );
  const id = await checkoutRun(stage, declared);
  await stage.observe('checkout: outcome unknown', id, checkoutNames(id, declared));
  await recoverShop(stage, actors, declared);
  await actors.clock.advanceSandboxClock({ body: { ms: 5 * second } });
  await paying;
  await reaches(actors, declared, 'completed');
  await stage.observe('checkout: paid after all', id, checkoutNames(id, declared));
  return [ended('unknown-then-paid', id)];
};

export const journeys: WorkflowJourneys = {
  workflows: {
    checkout: {
      queue: 'main',
      id: 'checkout/{subject}',
      summary: '{euros} EUR. Checkout {subject} of agent {agent}: paid at the shop, or known not to be',
      hasAgent: true,
      histories: ['paid', 'declined', 'refused', 'handed-over', 'unknown-then-paid'],
      stages: {
        'outcome unknown': {
          stage: 'paying',
          status: 'RUNNING',
          details: [
            '15.00 EUR for agent {agent}, intent {intent}. The outcome is not known yet. The shop is asked again at {time} of business time.',
          ],
        },
        paid: {
          stage: 'paid',
          status: 'COMPLETED',
          details: ['12.50 EUR for agent {agent}, intent {intent}. Done: paid.'],
        },
        'paid after all': {
          stage: 'paid',
          status: 'COMPLETED',
          details: ['15.00 EUR for agent {agent}, intent {intent}. Done: paid.'],
        },
        declined: {
          stage: 'declined',
          status: 'COMPLETED',
          details: ['20.00 EUR for agent {agent}, intent {intent}. Done: declined (mcc_blocklist).'],
        },
        'handed over': {
          stage: 'handed_over',
          status: 'COMPLETED',
          details: [
            'Checkout for agent {agent}, intent {intent}. Done: the target answered 402, and machine payment {payment} pays it.',
          ],
        },
        refused: {
          stage: 'refused',
          status: 'COMPLETED',
          details: ['10.01 EUR for agent {agent}, intent {intent}. Done: refused (offer_amount).'],
        },
      },
    },
  },
  journeys: [paid, declined, refused, handedOver, unknownThenPaid],
  waiting: (seen) => ({
    readCheckout: async (id) => aCheckoutRun(seen(id), 'paying', { askedAgainInMs: day }),
  }),
};
