/** Declares five intents that are paid at shops or refused, and follows each to its end. @module */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Actors, type Context, type Intent, runLink } from './context.ts';
import { check, until } from './http.ts';
import { findPerson, type Person } from './person.ts';
import { euros } from './reporter.ts';

export async function approvedByPolicy(context: Context, actors: Actors): Promise<void> {
  const intent = await declare(context, actors, {
    purpose: 'a small tool',
    expectedAmountEuros: 12.5,
    expectedMerchant: 'Sandbox Shop',
  });
  check(
    intent.status === 'approved',
    `an intent below the limit is approved at once, not ${intent.status}: ${intent.policyCheck.reason}`,
  );
  context.reporter.say('below 50.00, so the policy approved it at once');
  await buy(context, actors, intent, 'sandbox-shop');
}

export async function approvedByPerson(context: Context, actors: Actors): Promise<void> {
  const intent = await declare(context, actors, {
    purpose: 'a reference book',
    expectedAmountEuros: 80,
    expectedMerchant: 'Example Shop',
  });
  check(intent.status === 'pending_approval', 'an intent above the limit waits');
  context.reporter.say(`waits for a person: ${intent.policyCheck.reason}`);
  const person = await findPerson(context.ready.apiUrl);
  if ('missing' in person) await approveThroughApi(context, actors, intent, person.missing);
  else await approveWithPasskey(context, actors, intent, person);
  await buy(context, actors, intent, 'example-shop');
}

/** Used where a browser was found: one passkey, the enrolment page and the approver's page. */
async function approveWithPasskey(
  { ready, reporter }: Context,
  { owner, ownerKey }: Actors,
  { id }: Intent,
  person: Person,
): Promise<void> {
  try {
    const { approvalUrl } = await owner<Intent>('GET', `/intents/${id}`);
    if (approvalUrl === null) throw new Error('an intent that waits must have an approver’s page');
    await person.enrol(ready.apiUrl, ownerKey);
    reporter.say('a person enrols a passkey in a headless browser, at /docs/passkeys');
    const { question, outcome } = await person.approve(approvalUrl);
    reporter.say(`opens the approver's page, which says: ${question}`);
    reporter.say(`presses “Approve with a passkey”; the page says: ${outcome}`);
  } finally {
    await person.leave();
  }
  const { approvedBy, attestedAt } = await owner<Intent>('GET', `/intents/${id}`);
  check(approvedBy?.startsWith('passkey:') === true && attestedAt !== null, 'the approval is attested by the passkey');
  reporter.say(`recorded as ${approvedBy}, attested at ${attestedAt}`);
}

async function approveThroughApi(
  { reporter }: Context,
  { owner }: Actors,
  { id }: Intent,
  missing: string,
): Promise<void> {
  const { approvedBy } = await owner<{ approvedBy: string }>('POST', `/intents/${id}/approve`);
  reporter.say(
    `approved through the API by ${approvedBy}; with a passkey in a browser it would be attested, but ${missing}`,
  );
}

export async function approvedBySignal(context: Context, actors: Actors): Promise<void> {
  const intent = await declare(context, actors, {
    purpose: 'a software licence',
    expectedAmountEuros: 75,
    expectedMerchant: 'Sandbox Shop',
  });
  check(intent.status === 'pending_approval', 'an intent above the limit waits');
  await signal(context, `intent/${intent.id}`, { decision: 'approve', by: 'anna' });
  const approved = await until(
    () => actors.owner<Intent>('GET', `/intents/${intent.id}`),
    ({ status }) => status === 'approved',
    'the signal to approve the intent',
  );
  context.reporter.say(`approved by a Temporal signal, recorded as ${approved.approvedBy}`);
  await buy(context, actors, intent, 'sandbox-shop');
}

export async function refusedByRule(context: Context, actors: Actors): Promise<void> {
  const intent = await declare(context, actors, {
    purpose: 'a bet',
    expectedAmountEuros: 20,
    expectedMerchant: 'Sandbox Casino',
  });
  check(intent.status === 'denied', 'a blocked merchant is refused');
  context.reporter.say(`refused: ${intent.policyCheck.reason}`);
}

export async function expired(context: Context, actors: Actors): Promise<void> {
  const intent = await declare(context, actors, {
    purpose: 'an intent without an answer',
    expectedAmountEuros: 60,
    expectedMerchant: 'Sandbox Shop',
    ttlMinutes: 30,
  });
  check(intent.status === 'pending_approval', 'an intent above the limit waits');
  const { now, woken, left } = await context.dashboard<{ now: string; woken: number; left: number }>(
    'POST',
    '/sandbox/clock/advance',
    { ms: 31 * 60_000 },
  );
  const later = left === 0 ? '' : `, ${left} more in the background`;
  context.reporter.say(`the clock is moved by 31 minutes to ${now}; ${woken} workflow(s) woke${later}`);
  await until(
    () => actors.owner<Intent>('GET', `/intents/${intent.id}`),
    ({ status }) => status === 'expired',
    'the intent to expire',
  );
  context.reporter.say('its deadline has passed: expired');
}

export async function declare(
  { reporter, ...context }: Context,
  { agent }: Actors,
  declaration: Record<string, unknown>,
): Promise<Intent> {
  const intent = await agent<Intent>('POST', '/intents', declaration);
  reporter.say(`intent ${intent.id}: ${euros(intent.expectedAmountEuros)} for ${declaration.purpose}`);
  if (intent.status !== 'denied') reporter.say(runLink({ reporter, ...context }, `intent/${intent.id}`));
  return intent;
}

/** The agent pays at a sandbox shop. The wallet must then hold exactly that amount less, and the ledger must balance. */
async function buy(
  { ready, reporter }: Context,
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
  check(paid.success, 'the purchase is approved');
  reporter.say(`bought at ${shop}: transaction ${paid.transactionId}, authorized over HTTP by the card network`);
  await until(
    () => owner<Intent>('GET', `/intents/${intent.id}`),
    ({ status }) => status === 'completed',
    'the intent to be completed',
  );
  const transaction = await owner<{ status: string; amountEuros: number }>(
    'GET',
    `/transactions/${paid.transactionId}`,
  );
  check(
    transaction.status === 'completed' && transaction.amountEuros === amount,
    'the transaction is settled at the amount',
  );
  const after = await balance();
  const spent = Math.round((before.totalEuros - after.totalEuros) * 100) / 100;
  check(spent === amount, `the wallet is lower by ${amount}, not by ${spent}`);
  const { balanced } = await owner<{ balanced: boolean }>('GET', '/ledger/verify');
  check(balanced, 'the ledger balances');
  reporter.say(
    `cleared: intent completed, wallet ${euros(before.totalEuros)} -> ${euros(after.totalEuros)}, ledger balanced`,
  );
}

/** Sends the signal by the command line, as an approver does. */
export async function signal(
  { ready, reporter }: Context,
  workflowId: string,
  input: { decision: string; by: string },
): Promise<void> {
  const typed = JSON.stringify(input);
  const sent = ['workflow', 'signal', '--workflow-id', workflowId, '--name', 'decide', '--input', typed];
  reporter.say(`temporal ${sent.slice(0, -1).join(' ')} '${typed}'`);
  const where = ['--address', ready.temporalAddress, '--namespace', ready.temporalNamespace];
  await promisify(execFile)(ready.temporalCli ?? 'temporal', [...sent, ...where]);
}
