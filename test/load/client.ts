/**
 * One client of a mixed load: declares, approves, executes, cancels, freezes, moves money, and speaks as the card
 * network, in any order. Some requests are sent twice at once; equal requests must get equal answers.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendTo } from '../../src/client/client.ts';
import { networkOf, sandboxShop } from '../support/payments-world.ts';
import type { Random } from './random.ts';
import type { Answer, Recorder } from './record.ts';
import type { LoadAgent, Site } from './site.ts';

type Client = { readonly site: Site; readonly record: Recorder; readonly random: Random; readonly agent: LoadAgent };
type Step = (client: Client) => Promise<void>;

const steps: readonly (readonly [weight: number, step: Step])[] = [
  [6, buyAtShop],
  [4, declareAndLeave],
  [3, declareAndCancel],
  [10, chargeByNetwork],
  [5, clearBeforeAuthorization],
  [2, freezeAndUnfreeze],
  [2, moveMoney],
  [4, look],
];
const bag = steps.flatMap(([weight, step]) => Array.from({ length: weight }, () => step));

/** Works until `until` (a time of `performance.now()`), and finishes what it has begun. */
export async function runClient(site: Site, record: Recorder, random: Random, until: number): Promise<void> {
  while (performance.now() < until) {
    const client = { site, record, random, agent: random.pick(site.agents) };
    await random.pick(bag)(client);
  }
}

async function buyAtShop(client: Client): Promise<void> {
  const { site, random } = client;
  const cents = 100 + random.below(6_000);
  const intent = await declare(client, cents);
  if (intent === undefined || !(await approved(client, intent))) return;
  const targetUrl = `${site.installation.sandboxUrl}/shops/sandbox-shop?amountCents=${cents}`;
  const order = { intentId: intent.id, targetUrl };
  const first = await call(client, 'execute', 'POST', '/checkout/execute', { body: order, as: 'agent' });
  // A second key for the same intent: at most one of them may pay.
  if (first.status === 200 && random.chance(0.3))
    await call(client, 'execute again', 'POST', '/checkout/execute', { body: order, as: 'agent' });
}

async function declareAndLeave(client: Client): Promise<void> {
  await declare(client, 100 + client.random.below(9_000));
}

async function declareAndCancel(client: Client): Promise<void> {
  const intent = await declare(client, 100 + client.random.below(9_000));
  if (intent === undefined) return;
  const both = client.random.chance(0.5) ? approved(client, intent) : undefined;
  await call(client, 'cancel', 'POST', `/intents/${intent.id}/cancel`, { as: 'key' });
  await both;
}

async function chargeByNetwork(client: Client): Promise<void> {
  const { agent, random } = client;
  const id = `auth_${randomUUID()}`;
  // Now and then about as much as the transaction limit allows.
  const amountCents = 100 + random.below(random.chance(0.03) ? 30_000 : 4_000);
  const charge = { id, amountCents, partialSupported: random.chance(0.3) };
  const answer = await network(client, 'authorize', 'authorizations', authorization(agent, charge));
  const approvedCents = Number(answer.body.approvedCents ?? 0);
  if (random.chance(0.3)) await sleep(random.below(300));
  const cap = agent.isWithinHolds ? approvedCents : amountCents + random.below(500);
  if (random.chance(0.15)) return; // The hold stays open.
  if (random.chance(0.25)) {
    const part = random.chance(0.5) ? { amountCents: 1 + random.below(amountCents) } : {};
    await network(client, 'reverse', 'reversals', { id: `rev_${randomUUID()}`, ...about(agent, id), ...part });
    // Some networks collect after a reversal.
    if (!agent.isWithinHolds && random.chance(0.3)) await clear(client, id, 1 + random.below(amountCents), true);
    return;
  }
  if (cap <= 0) return;
  const firstCents = random.chance(0.3) && cap > 1 ? 1 + random.below(cap - 1) : cap;
  const rest = cap - firstCents;
  const clearings = [clear(client, id, firstCents, rest === 0)];
  if (rest > 0) clearings.push(clear(client, id, rest, true));
  await Promise.all(clearings);
}

async function clearBeforeAuthorization(client: Client): Promise<void> {
  const { agent, random } = client;
  if (agent.isWithinHolds) return;
  const id = `auth_${randomUUID()}`;
  const amountCents = 200 + random.below(4_000);
  const charge = authorization(agent, { id, amountCents, partialSupported: random.chance(0.5) });
  const early = random.chance(0.2)
    ? network(client, 'reverse early', 'reversals', { id: `rev_${randomUUID()}`, ...about(agent, id) })
    : clear(client, id, random.chance(0.3) ? 1 : amountCents, random.chance(0.5));
  if (random.chance(0.7)) await early;
  await network(client, 'authorize late', 'authorizations', charge);
  await early;
  if (random.chance(0.5)) await clear(client, id, 1 + random.below(amountCents), true);
}

async function freezeAndUnfreeze(client: Client): Promise<void> {
  const { agent, random } = client;
  const path = random.chance(0.5) ? `/agents/${agent.agentId}` : `/cards/${agent.cardId}`;
  await call(client, 'freeze', 'POST', `${path}/freeze`, { as: 'key' });
  await sleep(random.below(200));
  await call(client, 'unfreeze', 'POST', `${path}/unfreeze`, { as: 'key' });
}

async function moveMoney(client: Client): Promise<void> {
  const body = { amountEuros: 1 + client.random.below(20) };
  await call(client, 'fund', 'POST', '/fund', { as: 'key', body });
}

async function look(client: Client): Promise<void> {
  const path = client.random.pick(['/intents?limit=50', '/transactions?limit=50', '/ledger?limit=50', '/wallets']);
  await call(client, 'list', 'GET', path, { as: 'key' });
}

type Declared = { readonly id: string; readonly status: unknown };

async function declare(client: Client, cents: number): Promise<Declared | undefined> {
  const purpose = `load ${randomUUID()}`;
  const body = { purpose, expectedAmountEuros: cents / 100, expectedMerchant: 'Sandbox Shop', ttlMinutes: 60 };
  const answer = await call(client, 'declare', 'POST', '/intents', { as: 'agent', body });
  return answer.status === 201 ? { id: String(answer.body.id), status: answer.body.status } : undefined;
}

async function approved(client: Client, { id, status }: Declared): Promise<boolean> {
  if (status === 'approved') return true;
  if (status !== 'pending_approval') return false;
  const answer = await call(client, 'approve', 'POST', `/intents/${id}/approve`, { as: 'key' });
  return answer.status === 200;
}

const about = (agent: LoadAgent, authorizationId: string) => ({ authorizationId, cardRef: agent.cardRef });

const authorization = (agent: LoadAgent, over: object) => ({
  cardRef: agent.cardRef,
  currency: 'EUR',
  merchant: sandboxShop,
  kind: 'purchase',
  recurring: false,
  ...over,
});

const clear = (client: Client, authorizationId: string, amountCents: number, final: boolean): Promise<Answer> =>
  network(client, 'clear', 'clearings', {
    id: `clr_${randomUUID()}`,
    ...about(client.agent, authorizationId),
    amountCents,
    final,
    merchant: sandboxShop,
  });

/** A network repeats until it is answered: 503 is repeated, and one message in five is sent twice at once. */
async function network(client: Client, operation: string, kind: string, message: object): Promise<Answer> {
  const { record, random, site } = client;
  const { ready, apiUrl } = site.installation;
  const { request } = networkOf({ apiUrl, networkKey: ready.networkKey });
  const send = async (): Promise<Answer> => {
    for (;;) {
      const answer = await record.timed(operation, () => request(kind, message));
      if (answer.status !== 503) return answer;
      await sleep(200);
    }
  };
  return random.chance(0.2) ? twice(client, operation, send) : send();
}

type How = { readonly as: 'agent' | 'key'; readonly body?: object };

/** With a new Idempotency-Key; repeated with the same one while the answer is 503. */
async function call(client: Client, operation: string, method: string, path: string, how: How): Promise<Answer> {
  const { agent, record, random, site } = client;
  const sender = sendTo(site.installation.apiUrl, how.as === 'agent' ? agent.token : agent.key);
  const key = randomUUID();
  const send = async (): Promise<Answer> => {
    for (let attempt = 0; ; attempt++) {
      const answer = await record.timed(operation, () =>
        sender({
          method,
          path,
          headers: {
            ...(method === 'GET' ? {} : { 'Idempotency-Key': key }),
            ...(how.body === undefined ? {} : { 'Content-Type': 'application/json' }),
          },
          ...(how.body === undefined ? {} : { body: JSON.stringify(how.body) }),
        }),
      );
      if (answer.status !== 503 || attempt === 60) return answer;
      await sleep(500);
    }
  };
  return method === 'POST' && random.chance(0.2) ? twice(client, operation, send) : send();
}

/** Two equal requests at once. If both succeed, their answers must be equal. */
async function twice(client: Client, operation: string, send: () => Promise<Answer>): Promise<Answer> {
  const [first, second] = await Promise.all([send(), send()]);
  const both = [first, second].every(({ status }) => status >= 200 && status < 300);
  if (both && JSON.stringify(first.body) !== JSON.stringify(second.body)) {
    client.record.fault(
      `${operation}: equal requests, different answers: ${JSON.stringify(first.body)} and ${JSON.stringify(second.body)}`,
    );
  }
  return first.status < 300 ? first : second;
}
