/** Step 1: creates an owner, a webhook, an agent with card and rules, and money. @module */
import type { Actors, Context } from './context.ts';
import { bearer, callerOf, check } from './http.ts';
import { euros } from './reporter.ts';

const fundedEuros = 500;

export async function setUp(context: Context): Promise<Actors> {
  const { ready, reporter, dashboard, box } = context;
  const { key, ownerId } = await dashboard<{ key: string; ownerId: string }>('POST', '/keys/create', { label: 'demo' });
  const owner = callerOf(ready.apiUrl, bearer(key));
  reporter.say(`owner ${ownerId} with an API key`);

  const webhook = await owner<{ id: string; secret: string }>('POST', '/webhooks', {
    url: `${ready.sandboxUrl}/receiver/${box}`,
    events: ['*'],
    description: 'subscription of the demo',
  });
  reporter.say(`webhook ${webhook.id} to the sandbox's receiver, every event`);

  const agent = await owner<{ id: string; cardId: string; cardPanMasked: string; policyId: string }>(
    'POST',
    '/agents',
    { name: 'Shopping agent' },
  );
  reporter.say(`agent ${agent.id} with card ${agent.cardId} (${agent.cardPanMasked}) and policy ${agent.policyId}`);
  await owner('PATCH', `/policies/agent/${agent.id}`, { merchantBlocklist: ['Sandbox Casino'] });
  reporter.say(
    'rules of the agent: at most 100.00 per payment and 250.00 per day; more than 50.00 needs a person; Sandbox Casino is blocked',
  );

  const { token } = await owner<{ token: string }>('POST', `/agents/${agent.id}/tokens`, { label: 'demo' });
  reporter.say('an agent token, which may declare intents and pay, but not approve');

  const funded = await owner<{ walletId: string; balanceEuros: number }>('POST', '/fund', { amountEuros: fundedEuros });
  check(funded.balanceEuros === fundedEuros, `the wallet holds ${fundedEuros}`);
  reporter.say(`wallet ${funded.walletId} holds ${euros(funded.balanceEuros)}`);
  return {
    owner,
    agent: callerOf(ready.apiUrl, bearer(token)),
    ownerId,
    ownerKey: key,
    agentId: agent.id,
    cardId: agent.cardId,
    walletId: funded.walletId,
    webhookId: webhook.id,
    webhookSecret: webhook.secret,
  };
}
