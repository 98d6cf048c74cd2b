/** Step 1: an owner of its own, with everything that a purchase needs. @module */
import type { Actors, Context } from './context.ts';
import { bearer, callerOf, hold } from './http.ts';
import { euros } from './reporter.ts';

const fundedEuros = 500;

export async function setUp(context: Context): Promise<Actors> {
  const { ready, paper, dashboard, box } = context;
  const { key, ownerId } = await dashboard<{ key: string; ownerId: string }>('POST', '/keys/create', { label: 'demo' });
  const owner = callerOf(ready.apiUrl, bearer(key));
  paper.say(`owner ${ownerId} with an API key`);

  const webhook = await owner<{ id: string; secret: string }>('POST', '/webhooks', {
    url: `${ready.sandboxUrl}/receiver/${box}`,
    events: ['*'],
    description: 'the demo listens',
  });
  paper.say(`webhook ${webhook.id} to the sandbox's receiver, every event`);

  const agent = await owner<{ id: string; cardId: string; cardPanMasked: string; policyId: string }>(
    'POST',
    '/agents',
    { name: 'Shopping agent' },
  );
  paper.say(`agent ${agent.id} with card ${agent.cardId} (${agent.cardPanMasked}) and policy ${agent.policyId}`);
  await owner('PATCH', `/policies/agent/${agent.id}`, { merchantBlocklist: ['Sandbox Casino'] });
  paper.say('its rules: 100.00 per payment, 250.00 per day, up to 50.00 without asking, no Sandbox Casino');

  const { token } = await owner<{ token: string }>('POST', `/agents/${agent.id}/tokens`, { label: 'demo' });
  paper.say('an agent token: it may declare and pay, it may not approve');

  const funded = await owner<{ walletId: string; balanceEuros: number }>('POST', '/fund', { amountEuros: fundedEuros });
  hold(funded.balanceEuros === fundedEuros, `the wallet holds ${fundedEuros}`);
  paper.say(`wallet ${funded.walletId} holds ${euros(funded.balanceEuros)}`);
  return {
    owner,
    agent: callerOf(ready.apiUrl, bearer(token)),
    ownerId,
    ownerKey: key,
    agentId: agent.id,
    walletId: funded.walletId,
    webhookSecret: webhook.secret,
  };
}
