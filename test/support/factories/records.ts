/** One of everything that an owner can have, made over the API with real purchases. @module */
import { cardsArea } from '../../../src/domains/cards/cards/card.contract.ts';
import { webhooksArea } from '../../../src/domains/delivery/webhooks/webhook.contract.ts';
import { agentTokensArea } from '../../../src/domains/identity/agent-tokens/agent-token.contract.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { evidenceArea } from '../../../src/domains/spending/evidence/evidence.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { policiesArea } from '../../../src/domains/spending/policies/policy.contract.ts';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { ledgerArea } from '../../../src/domains/treasury/ledger/ledger.contract.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import type { Make } from '../samples.ts';
import { eventually, type Owner, type World } from '../world.ts';

export const clientsOf = (owner: Pick<Owner, 'client'>) => ({
  agents: owner.client(agentsArea),
  tokens: owner.client(agentTokensArea),
  policies: owner.client(policiesArea),
  intents: owner.client(intentsArea),
  evidence: owner.client(evidenceArea),
  cards: owner.client(cardsArea),
  checkout: owner.client(checkoutArea),
  transactions: owner.client(transactionsArea),
  wallets: owner.client(walletsArea),
  fund: owner.client(fundArea),
  ledger: owner.client(ledgerArea),
  webhooks: owner.client(webhooksArea),
});

export type Records = Awaited<ReturnType<typeof recordsOf>>;

/** An agent with a purchase behind it, a pending intent before it, a token, a webhook and money. */
export async function recordsOf(world: Pick<World, 'sandboxUrl'>, owner: Owner) {
  const api = clientsOf(owner);
  const funded = await api.fund.fundWallet({ body: { amountEuros: 500 } });
  const agent = await api.agents.createAgent({ body: { name: 'buyer' } });
  const token = await api.tokens.createAgentToken({ params: { id: agent.id }, body: { label: 'first' } });
  const bought = await buy(world, owner, agent.id, 12.5);
  const pending = await api.intents.declareIntent({
    body: { agentId: agent.id, purpose: 'later', expectedAmountEuros: 80, expectedMerchant: 'Sandbox Shop' },
  });
  const approved = await api.intents.declareIntent({
    body: { agentId: agent.id, purpose: 'now', expectedAmountEuros: 5, expectedMerchant: 'Sandbox Shop' },
  });
  const evidence = await api.evidence.createEvidence({ body: { intentId: pending.id, type: 'invoice' } });
  const webhook = await api.webhooks.createWebhook({
    body: { url: `${world.sandboxUrl}/receiver/${owner.ownerId}`, events: ['*'] },
  });
  await api.agents.updateAgent({ params: { id: agent.id }, body: { scope: 'an event for the webhook' } });
  const template = await api.policies.createPolicy({ body: { name: 'template' } });
  const delivery = await eventually(
    async () => (await api.webhooks.listWebhookDeliveries({ params: { id: webhook.id }, query: {} })).data[0],
    (found) => found !== undefined,
  );
  const entries = await api.ledger.listLedgerEntries({ query: {} });
  return {
    agentId: agent.id,
    cardId: agent.cardId ?? '',
    walletId: funded.walletId,
    fundingId: funded.id,
    token: token.token,
    tokenId: token.id,
    transactionId: bought.transactionId ?? '',
    completedIntentId: bought.intentId,
    intentId: pending.id,
    approvedIntentId: approved.id,
    evidenceId: evidence.id,
    webhookId: webhook.id,
    deliveryId: delivery?.id ?? '',
    entryId: entries.data[0]?.id ?? '',
    policyId: template.id,
  };
}

/** The records of a sampler's owner. An area with records of another kind makes these in its own samples file. */
export const theRecords: Make<Records> = ({ world, owner }) => recordsOf(world, owner);

/** Declares, executes at a sandbox shop and waits until the clearing has completed the intent. */
export async function buy(
  world: Pick<World, 'sandboxUrl'>,
  owner: Owner,
  agentId: string,
  amountEuros: number,
  shop = 'sandbox-shop',
) {
  const api = clientsOf(owner);
  const intent = await api.intents.declareIntent({
    body: { agentId, purpose: 'a thing', expectedAmountEuros: amountEuros },
  });
  const targetUrl = `${world.sandboxUrl}/shops/${shop}?amountCents=${Math.round(amountEuros * 100)}`;
  const paid = await api.checkout.executeCheckout({ body: { intentId: intent.id, targetUrl } });
  await eventually(
    () => api.intents.getIntent({ params: { id: intent.id } }),
    ({ status }) => status === 'completed' || status === 'failed',
  );
  return paid;
}
