/** Last two steps: verifies the deliveries as a subscriber would, and prints the balances. @module */
import { Webhook } from 'standardwebhooks';
import type { Actors, Context } from './context.ts';
import { check, until } from './http.ts';
import { euros } from './reporter.ts';

type Delivery = { receivedAt: string; headers: Record<string, string>; body: string; answered: number };
type Received = { deliveries: Delivery[] };
type Recorded = { data: { event: string; status: string; attempt: number }[] };

const refusedEvent = 'intent.expired';

/** Makes the receiver refuse the first delivery of one event. */
export async function refuseFirstDelivery({ sandbox, box }: Context): Promise<void> {
  await sandbox('PUT', `/receiver/${box}/failures`, { count: 1, status: 503, event: refusedEvent });
}

export async function verifyDeliveries(context: Context, { owner, webhookId, webhookSecret }: Actors): Promise<void> {
  const { reporter, sandbox, box, dashboard } = context;
  const received = async (): Promise<Delivery[]> => (await sandbox<Received>('GET', `/receiver/${box}`)).deliveries;
  const expected = [
    'intent.created',
    'intent.approved',
    'intent.denied',
    'intent.matched',
    'intent.completed',
    'transaction.declined',
    'transaction.authorization',
    'transaction.completed',
    'mpp.credential.consumed',
    'mpp.payment.updated',
    'wallet.funded',
    'transfer.created',
    'transfer.updated',
    'transfer.completed',
    'transfer.failed',
    'wallet.credited',
    'transfer.split.completed',
  ];
  const accepted = (deliveries: Delivery[]) => deliveries.filter(({ answered }) => answered < 300);
  const names = (deliveries: Delivery[]) => new Set(deliveries.map(({ headers }) => headers['x-service-event'] ?? ''));
  await until(
    received,
    (deliveries) => expected.every((name) => names(accepted(deliveries)).has(name)),
    `the events ${expected.join(', ')}`,
  );

  const refused = (
    await until(received, (deliveries) => deliveries.some(({ answered }) => answered === 503), 'the refused delivery')
  ).find(({ answered }) => answered === 503);
  reporter.say(
    `${refusedEvent}: the receiver answered 503 at first; a retry workflow waits for a minute of business time`,
  );
  // The next attempt is due a minute after the failure is recorded, which is later than the receiver's answer.
  await until(
    () => owner<Recorded>('GET', `/webhooks/${webhookId}/deliveries?limit=100`),
    ({ data }) =>
      data.some(({ event, status, attempt }) => event === refusedEvent && status === 'pending' && attempt === 1),
    'the failed attempt to be recorded',
  );
  await dashboard('POST', '/sandbox/clock/advance', { ms: 61_000 });
  await until(
    received,
    (deliveries) => names(accepted(deliveries)).has(refusedEvent),
    'the retry of the refused event',
  );
  reporter.say('the clock is moved by a minute: delivered by the retry workflow');

  const all = accepted(await received());
  const receiver = new Webhook(webhookSecret);
  for (const { body, headers } of all) receiver.verify(body, headers);
  const again = all.find(({ headers }) => headers['webhook-id'] === refused?.headers['webhook-id']);
  check(again !== undefined, 'the retry carries the same webhook-id');
  reporter.say(
    `${all.length} deliveries of ${names(all).size} kinds, every signature verified by the standardwebhooks library`,
  );
}

export async function showBalances(
  { ready, reporter, dashboard }: Context,
  { owner, walletId, agentId }: Actors,
): Promise<void> {
  const balance = await owner<{ availableEuros: number; pendingEuros: number; totalEuros: number }>(
    'GET',
    `/wallets/${walletId}/balance`,
  );
  check(
    balance.totalEuros === 172.51 && balance.pendingEuros === 0,
    'the wallet is lower by five payments, a split and two transfers',
  );
  reporter.say(
    `wallet ${euros(balance.totalEuros)}: 500.00 less 12.50, 80.00, 75.00, 5.00 and 4.99 paid, 100.00 moved to other wallets, and 20.00 and 30.00 sent to bank accounts; nothing held`,
  );
  const book = await owner<{ balanced: boolean; journals: number; sealedThrough: number; unsealed: number }>(
    'GET',
    '/ledger/verify?full=true',
  );
  check(book.balanced, 'the ledger balances and its chain is intact');
  reporter.say(`ledger: ${book.journals} journals, balanced, sealed through ${book.sealedThrough}`);
  const { now, offsetMs } = await dashboard<{ now: string; offsetMs: number }>('GET', '/sandbox/clock');
  reporter.say(
    `business time is ${ahead(offsetMs)} ahead of real time, at ${now}, because the demo moved the clock; it stays so, and deadlines follow it`,
  );
  reporter.say(`API and its documentation: ${ready.docsUrl}`);
  if (ready.temporalUiUrl !== null) {
    const query = encodeURIComponent(`BursarAgentId="${agentId}"`);
    reporter.say(
      `every run of this agent: ${ready.temporalUiUrl}/namespaces/${ready.temporalNamespace}/workflows?query=${query}`,
    );
  }
  reporter.say(
    'read on: README.md, docs/checkout.md, docs/machine-payments.md, docs/webhooks.md, temporal-config/README.md',
  );
}

/** In hours and minutes; several runs of the demo add up to days. */
function ahead(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
