/**
 * Clients of a recorded history: they move money between few wallets, and decide, authorize and clear the same intents,
 * several at a time. Like careful clients they repeat a request with its key until it is answered, or give up.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { networkOf } from '../support/payments-world.ts';
import { type Answer, callBy } from '../support/plain-calls.ts';
import { type Asked, type HistoryRecord, instant, type Seen } from './history-record.ts';
import { type Random, randomFrom } from './random.ts';

export type Book = {
  readonly key: string;
  readonly agentId: string;
  readonly cardRef: string;
  readonly wallets: readonly string[];
};

export type Course = { readonly seed: number; readonly clients: number; readonly steps: number };

type Needs = {
  readonly book: Book;
  readonly record: HistoryRecord;
  /** Of the APIs, each through a faulty connection. */
  readonly apiUrls: readonly string[];
  readonly networkKey: string;
  /** An answer that no client should get. */
  readonly wrong: (what: string) => void;
};

/** Each at another merchant, so that a charge matches no other one. The policy approves the small ones alone. */
const intents = [
  { cents: 1_500, merchant: 'Alpha Books' },
  { cents: 5_000, merchant: 'Bravo Garden' },
  { cents: 2_200, merchant: 'Kilo Music' },
  { cents: 7_000, merchant: 'Tango Kitchen' },
] as const;
export const intentCount = intents.length;

const merchantOf = (number: number) => ({
  id: `shop-${number}`,
  name: intents[number]?.merchant ?? '',
  mcc: '5734',
  country: 'DE',
});

type Try = (random: Random) => Promise<Answer>;
type Client = { readonly number: number; readonly random: Random };

const mostTries = 8;
const isDone = ({ status }: Answer): boolean => status >= 200 && status < 300;
const isUnanswered = ({ status, retryAfter }: Answer): boolean =>
  status === 0 || status >= 500 || (status === 409 && retryAfter !== null);

export async function playHistory(needs: Needs, { seed, clients, steps }: Course): Promise<void> {
  const declared = new Map<number, Promise<string | undefined>>();
  const client = async (number: number): Promise<void> => {
    const random = randomFrom(seed * 1_009 + number);
    for (let step = 0; step < steps; step++) {
      await sleep(random.below(30));
      const one = { number, random };
      if (random.chance(0.5)) await moveMoney(needs, one);
      // All clients come to the same intent at about the same time.
      else await useIntent(needs, one, Math.floor((step * intentCount) / steps), declared);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
}

async function moveMoney(needs: Needs, client: Client): Promise<void> {
  const { random } = client;
  const { wallets } = needs.book;
  const from = random.below(wallets.length);
  const to = (from + 1 + random.below(wallets.length - 1)) % wallets.length;
  const cents = 100 + random.below(1_200);
  const drawn = random.below(10);
  if (drawn < 3) return readBalance(needs, client, from);
  if (drawn < 4) return fundWallet(needs, client, to, cents);
  const asked = { of: 'wallets', op: 'transfer', from, to, cents };
  const amountEuros = cents / 100;
  if (drawn < 6)
    return order(needs, client, asked, `/wallets/${wallets[to]}/fund`, { amountEuros, fromWalletId: wallets[from] });
  const body = { fromWalletId: wallets[from], toWalletId: wallets[to], amountEuros };
  return order(needs, client, asked, '/transfers', body);
}

export async function fundWallet(needs: Needs, client: Client, to: number, cents = 1_500): Promise<void> {
  const path = `/wallets/${needs.book.wallets[to]}/fund`;
  await order(needs, client, { of: 'wallets', op: 'fund', to, cents }, path, { amountEuros: cents / 100 });
}

export async function readBalance(needs: Needs, client: Client, number: number): Promise<void> {
  const path = `/wallets/${needs.book.wallets[number]}/balance`;
  await read(needs, client, { of: 'wallets', op: 'read', from: number }, path, ({ availableEuros }) => ({
    balance: Math.round(Number(availableEuros) * 100),
  }));
}

async function useIntent(
  needs: Needs,
  client: Client,
  number: number,
  declared: Map<number, Promise<string | undefined>>,
): Promise<void> {
  const first = declared.get(number) ?? declare(needs, client, number);
  declared.set(number, first);
  const id = await first;
  if (id === undefined) return;
  const of = `intent ${number}`;
  const drawn = client.random.below(20);
  if (drawn < 6) return readIntent(needs, client, number, id);
  if (drawn < 11) return order(needs, client, { of, op: 'approve' }, `/intents/${id}/approve`);
  if (drawn < 12) return order(needs, client, { of, op: 'cancel' }, `/intents/${id}/cancel`);
  if (drawn < 13) return order(needs, client, { of, op: 'deny' }, `/intents/${id}/deny`);
  return charge(needs, client, number);
}

export async function readIntent(needs: Needs, client: Client, number: number, id: string): Promise<void> {
  const asked = { of: `intent ${number}`, op: 'read' };
  await read(needs, client, asked, `/intents/${id}`, ({ status }) => ({ status: String(status) }));
}

async function declare(needs: Needs, client: Client, number: number): Promise<string | undefined> {
  const { cents, merchant } = intents[number] as (typeof intents)[number];
  const purpose = `history ${randomUUID()}`;
  const body = { agentId: needs.book.agentId, purpose, expectedAmountEuros: cents / 100, expectedMerchant: merchant };
  const call = instant();
  const key = randomUUID();
  const { answer } = await untilAnswered(needs, client.random, (random) => post(needs, random, '/intents', body, key));
  if (!isDone(answer)) return undefined; // Nobody else has heard of it.
  const { id, status } = answer.body;
  const asked = { of: `intent ${number}`, op: 'declare', cents };
  needs.record.add(client.number, asked, { out: 'ok', status }, { call, return: instant() });
  return id;
}

/** The network repeats a message with its id, and gets the answer of the first one. */
async function charge(needs: Needs, client: Client, number: number): Promise<void> {
  const { random } = client;
  const { cents } = intents[number] as (typeof intents)[number];
  const amountCents = random.chance(0.2) ? cents * 2 : cents;
  const authorization = { id: `auth_${randomUUID()}`, amountCents, ...chargeOf(needs.book, number) };
  const of = `intent ${number}`;
  const call = instant();
  const { answer } = await untilAnswered(needs, random, (one) => tell(needs, one, 'authorizations', authorization));
  const out = !isDone(answer) ? 'unknown' : answer.body.decision === 'approved' ? 'ok' : 'refused';
  if (isDone(answer) && answer.body.decision === 'partial') needs.wrong(`partial: ${JSON.stringify(answer.body)}`);
  needs.record.add(client.number, { of, op: 'authorize', cents: amountCents }, { out }, { call, return: instant() });
  if (out !== 'ok' || random.chance(0.3)) return;
  const clearing = { id: `clr_${randomUUID()}`, authorizationId: authorization.id, final: true, amountCents };
  const clearedAt = instant();
  const message = { ...clearing, cardRef: needs.book.cardRef, merchant: merchantOf(number) };
  const cleared = await untilAnswered(needs, random, (one) => tell(needs, one, 'clearings', message));
  const seen: Seen = { out: isDone(cleared.answer) ? 'ok' : 'unknown' };
  needs.record.add(client.number, { of, op: 'clear' }, seen, { call: clearedAt, return: instant() });
}

const chargeOf = ({ cardRef }: Book, number: number) => ({
  cardRef,
  currency: 'EUR',
  merchant: merchantOf(number),
  kind: 'purchase',
  recurring: false,
  partialSupported: false,
});

/**
 * A refusal leaves nothing under the key. So one that follows an attempt without an answer says nothing of that attempt,
 * which is recorded as an operation of its own.
 */
async function order(needs: Needs, client: Client, asked: Asked, path: string, body?: object): Promise<void> {
  const call = instant();
  const key = client.random.chance(0.15) ? undefined : randomUUID();
  const attempt: Try = (random) => post(needs, random, path, body, key);
  const { answer, lastCall, lost } =
    key === undefined
      ? { answer: await attempt(client.random), lastCall: call, lost: 0 }
      : await untilAnswered(needs, client.random, attempt);
  const times = { call, return: instant() };
  if (isDone(answer)) return needs.record.add(client.number, asked, { out: 'ok' }, times);
  if (isUnanswered(answer)) return needs.record.add(client.number, asked, { out: 'unknown' }, times);
  if (lost > 0) needs.record.add(client.number, asked, { out: 'unknown' }, times);
  needs.record.add(client.number, asked, { out: 'refused' }, { ...times, call: lastCall });
}

async function read(
  needs: Needs,
  client: Client,
  asked: Asked,
  path: string,
  seen: (body: Record<string, unknown>) => Omit<Seen, 'out'>,
): Promise<void> {
  const get: Try = (random) => callOf(needs, random)('GET', path);
  const { answer, lastCall } = await untilAnswered(needs, client.random, get);
  const times = { call: lastCall, return: instant() };
  if (isDone(answer)) needs.record.add(client.number, asked, { out: 'ok', ...seen(answer.body) }, times);
}

async function untilAnswered(needs: Needs, random: Random, attempt: Try) {
  const givesUp = random.chance(0.15);
  let lost = 0;
  for (let tries = 1; ; tries++) {
    const lastCall = instant();
    const answer = await attempt(random);
    if (answer.status >= 500 && answer.retryAfter === null) needs.wrong(JSON.stringify(answer));
    if (!isUnanswered(answer)) return { answer, lastCall, lost };
    lost += 1;
    if (givesUp || tries === mostTries) return { answer, lastCall, lost };
    await sleep(50 + random.below(150));
  }
}

const patienceMs = (random: Random): number => 1_500 + random.below(2_500);

/** By either API. */
function callOf({ apiUrls, book }: Needs, random: Random) {
  const signal = AbortSignal.timeout(patienceMs(random));
  return callBy(({ method, path, headers, body }) =>
    fetch(`${random.pick(apiUrls)}${path}`, {
      method,
      headers: { ...headers, Authorization: `Bearer ${book.key}` },
      signal,
      ...(body === undefined ? {} : { body }),
    }),
  );
}

const post = (needs: Needs, random: Random, path: string, body?: object, key?: string): Promise<Answer> =>
  callOf(needs, random)('POST', path, body, key);

async function tell({ apiUrls, networkKey }: Needs, random: Random, kind: string, message: object): Promise<Answer> {
  const { request } = networkOf({ apiUrl: random.pick(apiUrls), networkKey });
  const call = callBy(() => request(kind, message));
  const patience = patienceMs(random);
  const late = sleep(patience, undefined, { ref: false }).then(
    (): Answer => ({ status: 0, body: { error: 'no answer' }, retryAfter: null, isReplayed: false, tookMs: patience }),
  );
  return Promise.race([call('POST', `/network/${kind}`), late]);
}
