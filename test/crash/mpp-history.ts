/**
 * A seeded history of machine payments on a whole installation: intents, payments at merchants that cheat, credentials
 * that an agent presents itself, repeats, lost answers, operators, reversals and moves of the clock, while API, worker
 * and sandbox are killed. The checks that follow are in `mpp-checks.ts`.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { type Random, randomFrom } from '../load/random.ts';
import type { ChildName, Installation } from '../support/installation.ts';
import { toldRuns } from '../support/told-runs.ts';
import { eventually, type Owner } from '../support/world.ts';
import { type CheatingMerchant, manners } from './cheating-merchant.ts';
import {
  type Answer,
  type Call,
  callAs,
  type Figures,
  isAnswering,
  playWithDeaths,
  type Course as Steps,
  succeed,
} from './deaths.ts';

export const tolerancePercent = 5;
const fundedEuros = 50_000;
const agentCount = 4;

type Buyer = { readonly agentId: string; readonly cardId: string };
type Declared = { readonly id: string; readonly cents: number; readonly buyer: Buyer; asked: number };
type Paid = { readonly body: object; readonly key: string };

export type History = {
  readonly site: Installation;
  readonly merchant: CheatingMerchant;
  readonly owner: Owner;
  readonly buyers: readonly Buyer[];
};
export type Course = Steps & { readonly deaths: number };

export async function openHistory(site: Installation, merchant: CheatingMerchant): Promise<History> {
  merchant.sellsFor(site.sandboxUrl);
  const owner = await site.owner();
  const call = ownerCall({ site, owner });
  await succeed(call('POST', '/fund', { amountEuros: fundedEuros }));
  // The history leaves intents open: it is not about limits.
  await site.sql(
    `insert into owner_limits (owner_id, name, most, updated_at)
     select $1, unnest(array['open_intents', 'waiting_intents']), 1000000, now()`,
    [owner.ownerId],
  );
  const buyers: Buyer[] = [];
  for (let number = 0; number < agentCount; number++) {
    const agent = await succeed(call('POST', '/agents', { name: `Buyer ${number}` }));
    const terms = { dailyLimitEuros: 100_000, monthlyLimitEuros: 1_000_000, amountTolerancePercent: tolerancePercent };
    await succeed(call('PATCH', `/policies/agent/${agent.id}`, { ...terms, requireIntent: true }));
    buyers.push({ agentId: String(agent.id), cardId: String(agent.cardId) });
  }
  return { site, merchant, owner, buyers };
}

const ownerCall = ({ site, owner }: Pick<History, 'site' | 'owner'>): Call =>
  callAs(site, { Authorization: `Bearer ${owner.key}` });

export async function playHistory(history: History, course: Course): Promise<Figures> {
  const from = performance.now();
  const play = player(history);
  const random = randomFrom(course.seed);
  const victims = Array.from({ length: course.deaths }, () =>
    random.pick<ChildName>(['worker', 'worker', 'api', 'sandbox']),
  );
  const played = await playWithDeaths(history.site, course, victims, async (random) => {
    await isAnswering(history.site); // A step that meets a dead API is none.
    await play.step(random);
  });
  return { ...played, ...play.figures(), tookMs: performance.now() - from };
}

function player({ site, merchant, owner, buyers }: History) {
  const call = ownerCall({ site, owner });
  const operator = callAs(site, { 'X-Dashboard-Secret': site.ready.dashboardSecret, 'X-Owner-Id': owner.ownerId });
  const intents: Declared[] = [];
  const paid: Paid[] = [];
  const did: Record<string, number> = {};
  const refusals: Record<string, string> = {};
  const count = (what: string, answer?: Answer) => {
    did[what] = (did[what] ?? 0) + 1;
    if (answer !== undefined && answer.status >= 400) refusals[what] ??= String(answer.body.error);
  };

  const declare = async (random: Random): Promise<void> => {
    const buyer = random.pick(buyers);
    const cents = 100 + random.below(1_900);
    const body = { agentId: buyer.agentId, purpose: 'a report', expectedAmountEuros: cents / 100 };
    const answer = await call('POST', '/intents', body);
    count(`declare ${answer.status}`, answer);
    if (answer.status === 201 && answer.body.status === 'approved')
      intents.push({ id: String(answer.body.id), cents, buyer, asked: 0 });
  };

  /** Mostly the intent that was paid for least; often enough one that is paid, under way or unknown. */
  const anIntent = (random: Random): Declared | undefined => {
    if (intents.length === 0) return undefined;
    if (random.chance(0.35)) return random.pick(intents.slice(-20));
    return intents.reduce((least, one) => (one.asked < least.asked ? one : least));
  };

  const priceOf = (random: Random, cents: number): number =>
    random.pick([cents, cents, cents, cents, Math.floor(cents * 0.5) + 1, Math.floor(cents * 1.04), cents * 2]);

  const pay = async (random: Random): Promise<void> => {
    const intent = anIntent(random);
    if (intent === undefined) return declare(random);
    intent.asked++;
    const url = random.chance(0.2)
      ? `${site.sandboxUrl}/paid/${random.pick(['sandbox-stumbles', 'sandbox-no-receipt', 'sandbox-raises'])}?amountCents=${intent.cents}`
      : merchant.urlOf(random.pick(manners), priceOf(random, intent.cents));
    const order = { body: { url, intentId: intent.id, cardId: intent.buyer.cardId }, key: randomUUID() };
    paid.push(order);
    await send(random, order, 'pay');
    if (random.chance(0.15)) await send(random, order, 'pay repeated');
  };

  const send = async (random: Random, { body, key }: Paid, what: string): Promise<void> => {
    const isImpatient = random.chance(0.4);
    const answer = await call('POST', '/v1/mpp/pay', body, {
      key,
      withinMs: isImpatient ? 50 + random.below(1_500) : 15_000,
    });
    const { status } = answer;
    count(`${what} ${status === 200 ? answer.body.status : status === 0 ? 'lost' : status}`, answer);
  };

  const repeat = async (random: Random): Promise<void> => {
    if (paid.length > 0) await send(random, random.pick(paid.slice(-30)), 'pay repeated');
  };

  /** The agent gets a credential and presents it itself, twice, to a merchant of the sandbox. */
  const present = async (random: Random): Promise<void> => {
    const intent = anIntent(random);
    if (intent === undefined) return declare(random);
    intent.asked++;
    const url = `${site.sandboxUrl}/paid/sandbox-api?amountCents=${intent.cents}`;
    const challenge = await fetch(url).then(
      (answer) => answer.headers.get('www-authenticate'),
      () => null,
    );
    if (challenge === null) return count('present: no challenge');
    const order = { challenge, intentId: intent.id, cardId: intent.buyer.cardId };
    const minted = await call('POST', '/v1/mpp/credentials/mint', order);
    count(`mint ${minted.status}`, minted);
    if (minted.status !== 201) return;
    const headers = { Authorization: `Payment ${minted.body.credential}` };
    const presented = await Promise.allSettled([fetch(url, { headers }), fetch(url, { headers })]);
    for (const one of presented) count(`present ${one.status === 'fulfilled' ? one.value.status : 'lost'}`);
  };

  const resolve = async (random: Random): Promise<void> => {
    const [payment] = await site.sql<{ id: string }>(
      `select id from mpp_payments where owner_id = $1 and status in ('accepted', 'unknown') order by random() limit 1`,
      [owner.ownerId],
    );
    if (payment === undefined) return pay(random);
    const outcome = random.pick(['paid', 'not-paid']);
    const key = randomUUID();
    const asked = [1, 2].map(() => operator('POST', `/v1/mpp/payments/${payment.id}/resolve`, { outcome }, { key }));
    for (const answer of await Promise.all(asked)) count(`resolve ${outcome} ${answer.status}`, answer);
  };

  const cancel = async (random: Random): Promise<void> => {
    const intent = anIntent(random);
    if (intent === undefined) return declare(random);
    const answer = await call('POST', `/intents/${intent.id}/cancel`);
    count(`cancel ${answer.status}`, answer);
  };

  /** A charge is taken back, so that its intent can be paid again. */
  const reverse = async (random: Random): Promise<void> => {
    const charges = await site.sql<{ id: string }>(
      `select authorization_id as id from transactions where owner_id = $1 and rail = 'mpp'
         and status in ('pending', 'completed') and authorization_id is not null order by id desc limit 5`,
      [owner.ownerId],
    );
    if (charges.length === 0) return pay(random);
    const answer = await fetch(`${site.sandboxUrl}/network/reverse`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ authorizationId: random.pick(charges).id }),
    }).catch(() => undefined);
    count(`reverse ${answer?.status ?? 'lost'}`);
  };

  const moveClock = async (random: Random): Promise<void> => {
    const moved = await site.advance(random.pick([1_000, 61_000, 600_000])).then(
      () => 'done',
      () => 'lost',
    );
    count(`clock ${moved}`);
  };

  const kinds = (
    [
      [25, declare],
      [40, pay],
      [8, repeat],
      [8, present],
      [8, resolve],
      [3, cancel],
      [4, reverse],
      [4, moveClock],
    ] as const
  ).flatMap(([weight, run]) => Array.from({ length: weight }, () => run));

  return {
    figures: () => ({ did, refusals }),
    step: (random: Random): Promise<void> => random.pick(kinds)(random),
  };
}

/** No payment is on its way, no merchant will charge later, no message waits, and nothing is held. */
export async function isQuiet(history: History): Promise<void> {
  await history.site.isWell();
  do {
    await history.merchant.isDone();
    await nothingWaits(history.site);
  } while (history.merchant.willCharge());
}

async function nothingWaits(site: Installation): Promise<void> {
  await eventually(
    async () =>
      (
        await site.sql<Record<string, number>>(
          `select (select count(*)::int from mpp_payments
               where status in ('requested', 'challenged', 'allowed', 'minted', 'presenting')) as payments,
             (select count(*)::int from mpp_payments where status <> 'paid' and charge_outcome = 'approved') as charges,
             (select count(*)::int from transactions where held_cents > 0) as held,
             (select count(*)::int from workflow_runs where wanted_wake) as wakes,
             (select count(*)::int from unsealed_journals) as unsealed`,
        )
      )[0] ?? {},
    (left) => Object.values(left).every((count) => count === 0),
    120_000,
  );
}

/** Every payment has its outcome; the time for it has come. */
export async function isSettled(history: History): Promise<void> {
  const { site } = history;
  const waiting = () => site.sql<{ id: string }>(`select id from mpp_payments where status in ('accepted', 'unknown')`);
  await eventually(waiting, (left) => left.length === 0, 120_000).catch(async (error: Error) => {
    const runs = (await waiting()).map(({ id }) => `mpp-payment/${id}`);
    throw new Error(`${error.message}\n${await toldRuns(site, runs)}`, { cause: error });
  });
  await isQuiet(history);
}
