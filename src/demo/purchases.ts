/** Steps 2 to 6: five intents and what becomes of each. @module */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Actors, type Context, type Intent, runLink } from './context.ts';
import { hold, until } from './http.ts';
import { type Person, personNear } from './person.ts';
import { euros } from './reporter.ts';

export async function approvedByPolicy(context: Context, actors: Actors): Promise<void> {
  const intent = await declare(context, actors, {
    purpose: 'a small tool',
    expectedAmountEuros: 12.5,
    expectedMerchant: 'Sandbox Shop',
  });
  hold(
    intent.status === 'approved',
    `an intent below the limit is approved at once, not ${intent.status}: ${intent.policyCheck.reason}`,
  );
  context.paper.say('below 50.00, so the policy approved it at once');
  await buy(context, actors, intent, 'sandbox-shop');
}

export async function approvedByPerson(context: Context, actors: Actors): Promise<void> {
  const intent = await declare(context, actors, {
    purpose: 'a reference book',
    expectedAmountEuros: 80,
    expectedMerchant: 'Example Shop',
  });
  hold(intent.status === 'pending_approval', 'an intent above the limit waits');
  context.paper.say(`waits for a person: ${intent.policyCheck.reason}`);
  const person = await personNear(context.ready.apiUrl);
  if ('missing' in person) await approveThroughApi(context, actors, intent, person.missing);
  else await approveWithPasskey(context, actors, intent, person);
  await buy(context, actors, intent, 'example-shop');
}

/** Where a browser is found, a person is played: two pages, one passkey. */
async function approveWithPasskey(
  { ready, paper }: Context,
  { owner, ownerKey }: Actors,
  { id }: Intent,
  person: Person,
): Promise<void> {
  try {
    const { approvalUrl } = await owner<Intent>('GET', `/intents/${id}`);
    if (approvalUrl === null) throw new Error('not as it should be: an intent that waits has an approver’s page');
    await person.enrol(ready.apiUrl, ownerKey);
    paper.say('a person enrols a passkey in a headless browser, at /docs/passkeys');
    const { asked, outcome } = await person.approve(approvalUrl);
    paper.say(`opens the approver's page, which says: ${asked}`);
    paper.say(`presses “Approve with a passkey”; the page says: ${outcome}`);
  } finally {
    await person.leave();
  }
  const { approvedBy, attestedAt } = await owner<Intent>('GET', `/intents/${id}`);
  hold(approvedBy?.startsWith('passkey:') === true && attestedAt !== null, 'the approval is attested by the passkey');
  paper.say(`recorded as ${approvedBy}, attested at ${attestedAt}`);
}

async function approveThroughApi(
  { paper }: Context,
  { owner }: Actors,
  { id }: Intent,
  missing: string,
): Promise<void> {
  const { approvedBy } = await owner<{ approvedBy: string }>('POST', `/intents/${id}/approve`);
  paper.say(
    `approved through the API by ${approvedBy}; with a passkey in a browser it would be attested, but ${missing}`,
  );
}

export async function approvedBySignal(context: Context, actors: Actors): Promise<void> {
  const intent = await declare(context, actors, {
    purpose: 'a software licence',
    expectedAmountEuros: 75,
    expectedMerchant: 'Sandbox Shop',
  });
  hold(intent.status === 'pending_approval', 'an intent above the limit waits');
  await signal(context, `intent/${intent.id}`, { decision: 'approve', by: 'anna' });
  const approved = await until(
    () => actors.owner<Intent>('GET', `/intents/${intent.id}`),
    ({ status }) => status === 'approved',
    'the signal to approve the intent',
  );
  context.paper.say(`approved by a Temporal signal, recorded as ${approved.approvedBy}`);
  await buy(context, actors, intent, 'sandbox-shop');
}

export async function refusedByRule(context: Context, actors: Actors): Promise<void> {
  const intent = await declare(context, actors, {
    purpose: 'a bet',
    expectedAmountEuros: 20,
    expectedMerchant: 'Sandbox Casino',
  });
  hold(intent.status === 'denied', 'a blocked merchant is refused');
  context.paper.say(`refused: ${intent.policyCheck.reason}`);
}

export async function expired(context: Context, actors: Actors): Promise<void> {
  const intent = await declare(context, actors, {
    purpose: 'something nobody answers',
    expectedAmountEuros: 60,
    expectedMerchant: 'Sandbox Shop',
    ttlMinutes: 30,
  });
  hold(intent.status === 'pending_approval', 'an intent above the limit waits');
  const { now, woken, left } = await context.dashboard<{ now: string; woken: number; left: number }>(
    'POST',
    '/sandbox/clock/advance',
    { ms: 31 * 60_000 },
  );
  const later = left === 0 ? '' : `, ${left} more in the background`;
  context.paper.say(`the clock is moved by 31 minutes to ${now}; ${woken} workflow(s) woke${later}`);
  await until(
    () => actors.owner<Intent>('GET', `/intents/${intent.id}`),
    ({ status }) => status === 'expired',
    'the intent to expire',
  );
  context.paper.say('its deadline has passed: expired');
}

async function declare(
  { paper, ...context }: Context,
  { agent }: Actors,
  declaration: Record<string, unknown>,
): Promise<Intent> {
  const intent = await agent<Intent>('POST', '/intents', declaration);
  paper.say(`intent ${intent.id}: ${euros(intent.expectedAmountEuros)} for ${declaration.purpose}`);
  if (intent.status !== 'denied') paper.say(runLink({ paper, ...context }, `intent/${intent.id}`));
  return intent;
}

/** The agent pays at a shop of the sandbox; the wallet must be lower by exactly that amount, and the book balanced. */
async function buy(
  { ready, paper }: Context,
  { owner, agent, walletId }: Actors,
  intent: Intent,
  shop: string,
): Promise<void> {
  const balance = () => owner<{ availableEuros: number; totalEuros: number }>('GET', `/wallets/${walletId}/balance`);
  const before = await balance();
  const amount = intent.expectedAmountEuros;
  const paid = await agent<{ success: boolean; transactionId: string }>('POST', '/checkout/execute', {
    intentId: intent.id,
    targetUrl: `${ready.sandboxUrl}/shops/${shop}?amountCents=${Math.round(amount * 100)}`,
  });
  hold(paid.success, 'the purchase is approved');
  paper.say(`bought at ${shop}: transaction ${paid.transactionId}, authorized over HTTP by the card network`);
  await until(
    () => owner<Intent>('GET', `/intents/${intent.id}`),
    ({ status }) => status === 'completed',
    'the intent to be completed',
  );
  const transaction = await owner<{ status: string; amountEuros: number }>(
    'GET',
    `/transactions/${paid.transactionId}`,
  );
  hold(
    transaction.status === 'completed' && transaction.amountEuros === amount,
    'the transaction is settled at the amount',
  );
  const after = await balance();
  const spent = Math.round((before.totalEuros - after.totalEuros) * 100) / 100;
  hold(spent === amount, `the wallet is lower by ${amount}, not by ${spent}`);
  const { balanced } = await owner<{ balanced: boolean }>('GET', '/ledger/verify');
  hold(balanced, 'the ledger balances');
  paper.say(
    `cleared: intent completed, wallet ${euros(before.totalEuros)} -> ${euros(after.totalEuros)}, ledger balanced`,
  );
}

/** Exactly as an approver sends it from a terminal. */
async function signal(
  { ready, paper }: Context,
  workflowId: string,
  input: { decision: string; by: string },
): Promise<void> {
  const typed = JSON.stringify(input);
  const sent = ['workflow', 'signal', '--workflow-id', workflowId, '--name', 'decide', '--input', typed];
  paper.say(`temporal ${sent.slice(0, -1).join(' ')} '${typed}'`);
  const where = ['--address', ready.temporalAddress, '--namespace', ready.temporalNamespace];
  await promisify(execFile)(ready.temporalCli ?? 'temporal', [...sent, ...where]);
}
