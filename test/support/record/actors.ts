/** Who takes part in journeys: an owner with money, and for each journey an agent with its card. @module */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient, type Send, sendTo } from '../../../src/client/client.ts';
import { cardRequestsArea } from '../../../src/domains/cards/card-requests/card-request.contract.ts';
import { cardsArea } from '../../../src/domains/cards/cards/card.contract.ts';
import { webhooksArea } from '../../../src/domains/delivery/webhooks/webhook.contract.ts';
import { agentTokensArea } from '../../../src/domains/identity/agent-tokens/agent-token.contract.ts';
import { keysArea } from '../../../src/domains/identity/keys/key.contract.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { policiesArea } from '../../../src/domains/spending/policies/policy.contract.ts';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import type { Area } from '../../../src/http/route.ts';
import { sandboxClockArea } from '../../../src/http/sandbox-clock.ts';
import type { Id } from '../../../src/kernel/ids.ts';

/** Stands for whatever people write into names and purposes; must be read nowhere in Temporal. */
export const someone = 'Erika Mustermann';

/** Where Bursar runs, in a sandbox deployment. */
export type Where = {
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  readonly dashboardSecret: string;
  readonly networkKey: string;
  /** Callers repeat what was answered 503. */
  readonly isDisturbed?: boolean;
};

export type Actors = Awaited<ReturnType<typeof actorsAt>>;
export type Declared = {
  readonly agentId: Id<'agent'>;
  readonly cardId: Id<'card'>;
  readonly intentId: Id<'intent'>;
};

export async function actorsAt({
  apiUrl,
  dashboardSecret,
  isDisturbed = false,
}: Pick<Where, 'apiUrl' | 'dashboardSecret' | 'isDisturbed'>) {
  const dashboard: Send = (request) =>
    sendTo(apiUrl)({ ...request, headers: { ...request.headers, 'X-Dashboard-Secret': dashboardSecret } });
  const { key, ownerId } = await createClient(keysArea, dashboard).createKey({ body: {} });
  const client = <A extends Area>(area: A): Client<A> =>
    createClient(area, isDisturbed ? patient(sendTo(apiUrl, key)) : sendTo(apiUrl, key));
  const agents = client(agentsArea);
  const intents = client(intentsArea);
  await client(fundArea).fundWallet({ body: { amountEuros: 1_000 } });
  const agent = async () => {
    const made = await agents.createAgent({ body: { name: `buyer of ${someone}` } });
    if (made.cardId === null) throw new Error(`agent ${made.id} has no card`);
    return { agentId: made.id as Id<'agent'>, cardId: made.cardId as Id<'card'> };
  };
  return {
    /** Any other area, with the owner's key. */
    client,
    ownerId,
    key,
    agents,
    intents,
    agent,
    cards: client(cardsArea),
    cardRequests: client(cardRequestsArea),
    policies: client(policiesArea),
    tokens: client(agentTokensArea),
    webhooks: client(webhooksArea),
    checkout: client(checkoutArea),
    transactions: client(transactionsArea),
    clock: createClient(sandboxClockArea, dashboard),
    /** An intent of a new agent. Up to 50.00 it is approved at once. */
    declare: async (
      expectedAmountEuros: number,
      over: { ttlMinutes?: number; recurring?: { cadence: 'daily' } } = {},
    ): Promise<Declared> => {
      const { agentId, cardId } = await agent();
      const intent = await intents.declareIntent({
        body: { agentId, purpose: `a thing for ${someone}`, expectedAmountEuros, ...over },
      });
      return { agentId, cardId, intentId: intent.id as Id<'intent'> };
    },
  };
}

/** 503 says that the outcome is not known yet: the same request is sent again under the same key. */
const patient =
  (send: Send): Send =>
  async (request) => {
    const keyed = { ...request, headers: { 'Idempotency-Key': randomUUID(), ...request.headers } };
    for (let attempts = 1; ; attempts++) {
      const answer = await send(request.method === 'GET' ? request : keyed);
      if (answer.status !== 503 || attempts === 20) return answer;
      await sleep(500);
    }
  };
