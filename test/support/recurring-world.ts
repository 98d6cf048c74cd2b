/** What tests of recurring intents share: an agent that declares, the network that charges, and the calendar. @module */
import { eventNamesOf } from './events.ts';
import { clientsOf } from './factories/records.ts';
import { aPayer, networkOf, type Payer } from './payments-world.ts';
import { businessNow, type World } from './world.ts';

export const musicClub = { id: 'm_music', name: 'Music Club', mcc: '5735', country: 'DE' };

export type Subscriber = Awaited<ReturnType<typeof aSubscriber>>;

/** An agent that may spend what it declares, and nothing else. */
export async function aSubscriber(world: World, options: Parameters<typeof aPayer>[1] = {}) {
  const policy = { require_intent: true, ...options.policy };
  const payer: Payer = await aPayer(world, { fundsCents: 1_000_000, ...options, policy });
  const api = clientsOf(payer.owner);
  const asAgent = clientsOf(world.as(payer.token));
  const network = networkOf(world);
  return {
    payer,
    api,
    asAgent,
    declare: (more: object = {}) =>
      asAgent.intents.declareIntent({
        body: {
          purpose: 'music',
          expectedAmountEuros: 10,
          expectedMerchant: 'Music Club',
          recurring: { cadence: 'monthly' },
          ...more,
        },
      }),
    read: (id: string) => api.intents.getIntent({ params: { id } }),
    windows: async (id: string) => (await api.intents.listIntentWindows({ params: { id }, query: {} })).data,
    charge: async (over: Record<string, unknown> = {}) => {
      const message = network.authorizationOf(payer, { amountCents: 1_000, merchant: musicClub, ...over });
      const { body } = await network.send<{
        decision: string;
        rule: string;
        reason: string;
        transactionId: string;
      }>('authorizations', message);
      return { ...body, authorizationId: message.id };
    },
    clear: (authorizationId: string, over: Record<string, unknown> = {}) =>
      network.clear(payer, { authorizationId, amountCents: 1_000, merchant: musicClub, ...over }),
    reverse: (authorizationId: string) => network.reverse(payer, { authorizationId }),
    eventsOf: (id: string) => eventNamesOf(world, id),
  };
}

/** Business time goes on until then; it never goes back. */
export async function goTo(world: World, instant: string | Date): Promise<void> {
  const leftMs = new Date(instant).getTime() - (await businessNow(world)).getTime();
  if (leftMs > 0) await world.advance(leftMs);
}

/** The window of a record; its absence is a failure. */
export function windowIn<W>({ window }: { window: W | null }): W {
  if (window === null) throw new Error('the intent shows no window');
  return window;
}
