/** Sample messages of the card network, for the suites that cover all operations. @module */
import { createHmac, randomUUID } from 'node:crypto';
import { networkArea } from '../../../src/domains/payments/network/network.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { type Asked, type Sampler, samplesOf } from '../../support/samples.ts';
import { freshAgent } from '../parties/agents.samples.ts';

type Kind = 'authorizations' | 'increments' | 'clearings' | 'reversals' | 'refunds' | 'advices';

const merchant = { id: 'm_sandbox_shop', name: 'Sandbox Shop', mcc: '5734', country: 'DE' };

function signed({ world }: Sampler, kind: Kind, body: object): Asked {
  const seconds = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', world.networkKey)
    .update(`${seconds}.POST /network/${kind}.${JSON.stringify(body)}`)
    .digest('hex');
  return { body, headers: { 'X-Network-Signature': `t=${seconds},v1=${signature}` } };
}

/** An authorization as the network sends it, for a fresh approved intent. */
async function authorization(one: Sampler) {
  const agentId = await freshAgent(one);
  await one.client(intentsArea).declareIntent({ body: { agentId, purpose: 'a thing', expectedAmountEuros: 5 } });
  const [card] = await one.world.sql<{ card_ref: string }>('select card_ref from cards where agent_id = $1', [agentId]);
  return {
    id: `auth_${randomUUID()}`,
    cardRef: card?.card_ref,
    amountCents: 500,
    currency: 'EUR',
    merchant,
    kind: 'purchase',
    partialSupported: false,
    recurring: false,
    sentAt: new Date().toISOString(),
  };
}

async function authorized(one: Sampler) {
  const message = await authorization(one);
  const { body, headers } = signed(one, 'authorizations', message);
  const answer = await fetch(`${one.world.apiUrl}/network/authorizations`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const { decision } = (await answer.json()) as { decision?: string };
  if (decision !== 'approved') throw new Error(`the authorization was not approved: ${answer.status} ${decision}`);
  return { authorizationId: message.id, cardRef: message.cardRef };
}

/** A charge that no intent was declared for, and that the default policy therefore declines. */
export async function declinedCharge(one: Sampler): Promise<string> {
  const agentId = await freshAgent(one);
  const [card] = await one.world.sql<{ card_ref: string }>('select card_ref from cards where agent_id = $1', [agentId]);
  const { body, headers } = signed(one, 'authorizations', {
    ...{ id: `auth_${randomUUID()}`, cardRef: card?.card_ref, amountCents: 500, currency: 'EUR', merchant },
    ...{ kind: 'purchase', partialSupported: false, recurring: false, sentAt: new Date().toISOString() },
  });
  const answer = await fetch(`${one.world.apiUrl}/network/authorizations`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const { decision, transactionId } = (await answer.json()) as { decision?: string; transactionId?: string };
  if (decision !== 'declined' || transactionId === undefined) {
    throw new Error(`the authorization was not declined: ${answer.status} ${decision}`);
  }
  return transactionId;
}

export const samples = samplesOf(networkArea, {
  ids: {},
  calls: (one) => ({
    authorizeCardPayment: async () => signed(one, 'authorizations', await authorization(one)),
    adviseCardPayment: async () =>
      signed(one, 'advices', {
        id: `adv_${randomUUID()}`,
        authorization: await authorization(one),
        approvedCents: 500,
      }),
    clearCardPayment: async () =>
      signed(one, 'clearings', {
        ...(await authorized(one)),
        id: `clr_${randomUUID()}`,
        amountCents: 500,
        final: true,
        merchant,
        clearedAt: new Date().toISOString(),
      }),
    incrementCardPayment: async () =>
      signed(one, 'increments', { ...(await authorized(one)), id: `inc_${randomUUID()}`, amountCents: 100 }),
    refundCardPayment: async () =>
      signed(one, 'refunds', { id: `ref_${randomUUID()}`, ...(await authorized(one)), amountCents: 500 }),
    reverseCardPayment: async () => signed(one, 'reversals', { id: `rev_${randomUUID()}`, ...(await authorized(one)) }),
  }),
});
