/** Steps 7 and 8: what the receiver heard, verified as any subscriber would, and what is left in the books. @module */
import { Webhook } from 'standardwebhooks';
import type { Actors, Context } from './context.ts';
import { hold, until } from './http.ts';
import { euros } from './reporter.ts';

type Delivery = { receivedAt: string; headers: Record<string, string>; body: string; answered: number };
type Heard = { deliveries: Delivery[] };

const refusedEvent = 'intent.expired';

/** Before the story: the receiver will refuse the first delivery of one event. */
export async function refuseOnce({ sandbox, box }: Context): Promise<void> {
  await sandbox('PUT', `/receiver/${box}/failures`, { count: 1, status: 503, event: refusedEvent });
}

export async function everythingWasHeard(context: Context, { webhookSecret }: Actors): Promise<void> {
  const { paper, sandbox, box, dashboard } = context;
  const heard = async (): Promise<Delivery[]> => (await sandbox<Heard>('GET', `/receiver/${box}`)).deliveries;
  const expected = [
    'intent.created',
    'intent.approved',
    'intent.denied',
    'intent.matched',
    'intent.completed',
    'transaction.authorization',
    'transaction.completed',
    'wallet.funded',
  ];
  const accepted = (deliveries: Delivery[]) => deliveries.filter(({ answered }) => answered < 300);
  const names = (deliveries: Delivery[]) => new Set(deliveries.map(({ headers }) => headers['x-service-event'] ?? ''));
  await until(
    heard,
    (deliveries) => expected.every((name) => names(accepted(deliveries)).has(name)),
    `the events ${expected.join(', ')}`,
  );

  const refused = (
    await until(heard, (deliveries) => deliveries.some(({ answered }) => answered === 503), 'the refused delivery')
  ).find(({ answered }) => answered === 503);
  paper.say(
    `${refusedEvent}: the receiver answered 503 at first; a retry workflow waits for a minute of business time`,
  );
  await dashboard('POST', '/sandbox/clock/advance', { ms: 61_000 });
  await until(heard, (deliveries) => names(accepted(deliveries)).has(refusedEvent), 'the retry of the refused event');
  paper.say('the clock is moved by a minute: delivered by the retry workflow');

  const all = accepted(await heard());
  const receiver = new Webhook(webhookSecret);
  for (const { body, headers } of all) receiver.verify(body, headers);
  const again = all.find(({ headers }) => headers['webhook-id'] === refused?.headers['webhook-id']);
  hold(again !== undefined, 'the retry carries the same webhook-id');
  paper.say(
    `${all.length} deliveries of ${names(all).size} kinds, every signature verified by the standardwebhooks library`,
  );
}

export async function whatIsLeft(
  { ready, paper, dashboard }: Context,
  { owner, walletId, agentId }: Actors,
): Promise<void> {
  const balance = await owner<{ availableEuros: number; pendingEuros: number; totalEuros: number }>(
    'GET',
    `/wallets/${walletId}/balance`,
  );
  hold(balance.totalEuros === 332.5 && balance.pendingEuros === 0, 'the wallet is lower by the three purchases');
  paper.say(`wallet ${euros(balance.totalEuros)}: 500.00 less 12.50, 80.00 and 75.00, nothing held`);
  const book = await owner<{ balanced: boolean; journals: number; sealedThrough: number; unsealed: number }>(
    'GET',
    '/ledger/verify?full=true',
  );
  hold(book.balanced, 'the ledger balances and its chain is intact');
  paper.say(`ledger: ${book.journals} journals, balanced, sealed through ${book.sealedThrough}`);
  const { now, offsetMs } = await dashboard<{ now: string; offsetMs: number }>('GET', '/sandbox/clock');
  paper.say(
    `business time is ${Math.round(offsetMs / 60_000)} min ahead of real time, at ${now}, because the demo moved the clock; it stays so, and deadlines follow it`,
  );
  paper.say(`API and its documentation: ${ready.docsUrl}`);
  if (ready.temporalUiUrl !== null) {
    const query = encodeURIComponent(`BursarAgentId="${agentId}"`);
    paper.say(
      `every run of this agent: ${ready.temporalUiUrl}/namespaces/${ready.temporalNamespace}/workflows?query=${query}`,
    );
  }
  paper.say('read on: README.md, docs/checkout.md, docs/webhooks.md, temporal-config/README.md');
}
