/** Sample calls and records of machine payments, for the suites that cover all operations. @module */

import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { mppPaymentsArea } from '../../../src/domains/payments/mpp-payments/mpp-payment.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { theAgent } from '../parties/agents.samples.ts';
import { theIntent } from '../spending/intents.samples.ts';

/** An order of a fresh agent at a merchant of the sandbox, with an approved intent and money for it. */
export async function orderAtMerchant(one: Sampler, merchant = 'sandbox-api') {
  await one.client(fundArea).fundWallet({ body: { amountEuros: 5 } });
  const agent = await one.client(agentsArea).createAgent({ body: { name: 'buyer at merchants' } });
  const body = { agentId: agent.id as 'ag_x', purpose: 'a report', expectedAmountEuros: 5 };
  const intent = await one.client(intentsArea).declareIntent({ body });
  const url = `${one.world.sandboxUrl}/paid/${merchant}?amountCents=500`;
  return { url, intentId: intent.id as 'int_x', cardId: agent.cardId as 'ca_x' };
}

/** Delivered without a charge, so that an operator may settle it. */
export const unsettledMppPayment = async (one: Sampler): Promise<string> =>
  (await one.client(mppPaymentsArea).payAtMerchant({ body: await orderAtMerchant(one, 'sandbox-gives-away') }))
    .payment_id;

const theMppPayment = (one: Sampler): Promise<string> => one.the(unsettledMppPayment);

export const samples = samplesOf(mppPaymentsArea, {
  ids: { id: theMppPayment, agentId: theAgent, intentId: theIntent },
  calls: (one) => ({
    payAtMerchant: async () => ({ body: await orderAtMerchant(one) }),
    listMppPayments: () => ({}),
    getMppPayment: async () => ({ path: { id: await theMppPayment(one) } }),
    resolveMppPayment: async () => ({
      path: { id: await unsettledMppPayment(one) },
      body: { outcome: 'not-paid', reason: 'the merchant wrote so' },
      headers: { 'X-Owner-Id': one.owner.ownerId },
      as: 'dashboard',
    }),
  }),
  actsTwice: { resolveMppPayment: 'each use of the dashboard’s secret is audited; the payment is settled once' },
  // Another process may find the row and pay before the API answers.
  mayOutliveTemporal: ['payAtMerchant'],
});
