/**
 * Charges of the card network that come together and so are decided in batches, with the increments, clearings, reversals,
 * refunds and advices that follow, sent to two APIs, while one of these, the worker and PostgreSQL are killed: each message
 * took effect once, its repeat has the same answer, the money is what the answers say, and a subscriber got every event. The
 * seed is printed; TEST_SEED repeats it.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { webhooksArea } from '../../src/domains/delivery/webhooks/webhook.contract.ts';
import { type Random, randomFrom } from '../load/random.ts';
import { type ChildName, type Installation, startInstallation } from '../support/installation.ts';
import { type More, startMore } from '../support/more-processes.ts';
import {
  type Authorized,
  aPayer,
  differencesOf,
  type NetworkAnswer,
  networkOf,
  type Payer,
} from '../support/payments-world.ts';
import { type Receiver, startReceiver, status } from '../support/receiver.ts';
import { seed } from '../support/seed.ts';
import { eventually, type World } from '../support/world.ts';
import { playWithDeaths } from './deaths.ts';

const steps = 60;
/** Of one step: they come at once, so that batches form. */
const charges = 8;
const lanes = 3;
const payers = 6;
const fundsCents = 10_000_000;
const mostCents = 5_000;
const victims: readonly ChildName[] = ['api', 'postgres', 'api', 'worker', 'api', 'postgres'];
const box = 'charges';

let receiver: Receiver;
let site: Installation;
let more: More;
let stopMore: More['stop'] = async () => undefined;
beforeAll(async () => {
  receiver = await startReceiver();
  receiver.answers(box, status(200));
  site = await startInstallation({ BURSAR_ALLOWED_ORIGINS: receiver.origin });
  more = await startMore(site);
  stopMore = more.stop;
}, 300_000);
afterAll(async () => {
  await stopMore();
  await site?.stop();
  await receiver.close();
}, 60_000);

type Sent = { readonly kind: string; readonly message: object; readonly answer: NetworkAnswer<object> };
/** What the answers say of one payer's money. */
type Money = { heldCents: number; spentCents: number };

test('whatever is killed, each message of the network takes effect once, also in a batch', async () => {
  process.stderr.write(`crash test of charges: seed ${seed}\n`);
  const networkKey = site.ready.networkKey as string;
  const networks = [site.apiUrl, more.apiUrl].map((apiUrl) => networkOf({ apiUrl, networkKey }));
  const [first] = networks;
  if (first === undefined) throw new Error('there is a network');
  const world = { ...site, networkKey } as unknown as World;
  const owner = await site.owner();
  await owner.client(webhooksArea).createWebhook({ body: { url: receiver.urlOf(box), events: ['*'] } });
  const cards: Payer[] = [];
  for (let n = 0; n < payers; n++) {
    const terms = { max_transaction_cents: mostCents, daily_limit_cents: null, monthly_limit_cents: null };
    cards.push(await aPayer(world, { owner, fundsCents, policy: terms }));
  }
  const money = new Map(
    cards.map(({ walletId }) => [walletId, { heldCents: 0, spentCents: 0 } satisfies Money as Money]),
  );
  const sent: Sent[] = [];

  /** As a network does: the same message again, to the next address, until there is an answer. */
  const say = async <Body extends object>(random: Random, kind: string, message: object): Promise<Body> => {
    for (let turn = random.below(2); ; turn++) {
      const network = networks[turn % networks.length] as typeof first;
      const answer = await network.send<Body>(kind, message).catch(() => undefined);
      if (answer !== undefined && answer.status !== 503) {
        if (answer.status !== 200) throw new Error(`${kind}: ${answer.status} ${JSON.stringify(answer.body)}`);
        sent.push({ kind, message, answer });
        return answer.body;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  const charge = async (random: Random, name: string): Promise<void> => {
    const payer = random.pick(cards);
    const { cardRef, walletId } = payer;
    const amountCents = 100 + random.below(mostCents + 500);
    const [authorizationId, account] = [`auth_${name}`, money.get(walletId) as Money];
    const asked = first.authorizationOf(payer, { id: authorizationId, amountCents });
    const answer = await say<Authorized>(random, 'authorizations', asked);
    expect(answer.decision).toBe(amountCents > mostCents ? 'declined' : 'approved');
    let heldCents = answer.approvedCents;
    if (answer.decision === 'declined' && random.chance(0.5)) {
      await say(random, 'advices', { id: `adv_${name}`, authorization: asked, approvedCents: amountCents });
      heldCents = amountCents;
    }
    if (heldCents === 0) return;
    account.heldCents += heldCents;
    if (amountCents + 200 <= mostCents && random.chance(0.3)) {
      const more = { id: `inc_${name}`, authorizationId, cardRef, amountCents: 200 };
      const grown = await say<Authorized>(random, 'increments', more);
      account.heldCents += grown.approvedCents;
      heldCents += grown.approvedCents;
    }
    const end = random.below(4);
    if (end === 0) return;
    if (end === 1) {
      await say(random, 'reversals', { id: `rev_${name}`, authorizationId, cardRef });
      account.heldCents -= heldCents;
      return;
    }
    const clearedAt = new Date().toISOString();
    const { merchant } = asked;
    const part = end === 2 ? Math.ceil(heldCents / 2) : heldCents;
    const cleared = { authorizationId, cardRef, merchant, clearedAt };
    await say(random, 'clearings', { ...cleared, id: `clr_${name}`, amountCents: part, final: true });
    account.heldCents -= heldCents;
    account.spentCents += part;
    if (!random.chance(0.3)) return;
    const refund = { id: `ref_${name}`, authorizationId, cardRef, amountCents: part, refundedAt: clearedAt };
    await say(random, 'refunds', refund);
    account.spentCents -= part;
  };

  const course = { seed, steps, lanes };
  const { kills } = await playWithDeaths(site, course, victims, async (random, step) => {
    await Promise.all(Array.from({ length: charges }, (_, n) => charge(randomOf(random), `${seed}_${step}_${n}`)));
  });
  expect(kills).toEqual({ api: 3, worker: 1, postgres: 2 });
  await site.isWell(120_000);

  const booked = () =>
    site.sql<{ name: string; cents: number }>(
      `select name, balance_cents::int as cents from ledger_accounts where owner_id = $1 and name like 'wallet:%' order by name`,
      [owner.ownerId],
    );
  const expected = [...money].flatMap(([walletId, { heldCents, spentCents }]) => [
    { name: `wallet:${walletId}:available`, cents: fundsCents - heldCents - spentCents },
    { name: `wallet:${walletId}:held`, cents: heldCents },
  ]);
  const byName = (accounts: { name: string; cents: number }[]) =>
    new Map(accounts.map(({ name, cents }) => [name, cents]));
  const standing = byName(await booked());
  for (const { name, cents } of expected) expect([name, standing.get(name) ?? 0]).toEqual([name, cents]);

  // Every message again, at both addresses: the same answers, and nothing more.
  const counts = () =>
    site.sql(
      `select (select count(*)::int from journals where owner_id = $1) as journals,
         (select count(*)::int from decisions where owner_id = $1) as decisions,
         (select count(*)::int from events where owner_id = $1) as events,
         (select count(*)::int from transactions where owner_id = $1) as transactions`,
      [owner.ownerId],
    );
  const before = await counts();
  for (const network of networks) {
    for (const { kind, message, answer } of sent) expect(await network.send(kind, message)).toEqual(answer);
  }
  expect(await counts()).toEqual(before);
  expect(byName(await booked())).toEqual(standing);
  expect(await differencesOf(world)).toEqual([]);
  // A refund has a transaction of its own.
  const opening = sent.filter(({ kind }) => kind === 'authorizations' || kind === 'refunds');
  const created = await site.sql<{ subject: string; count: number }>(
    `select subject_id as subject, count(*)::int as count from events
     where owner_id = $1 and name = 'transaction.created' group by 1`,
    [owner.ownerId],
  );
  expect(new Set(created.map(({ count }) => count))).toEqual(new Set([1]));
  expect(created).toHaveLength(opening.length);
  // One statement writes a batch, so its decisions have one transaction of PostgreSQL.
  const [batches] = await site.sql<{ count: number; largest: number }>(
    `select count(*)::int as count, max(size)::int as largest
     from (select count(*) as size from decisions where owner_id = $1 group by xmin::text having count(*) > 1) b`,
    [owner.ownerId],
  );
  expect(batches?.count).toBeGreaterThan(10);

  const undelivered = () =>
    site.sql<{ name: string }>(
      `select e.name from events e left join webhook_deliveries d on d.event_id = e.id
       where e.owner_id = $1 and e.seq > (select seq from events where name = 'webhook.created' and owner_id = $1)
         and d.status is distinct from 'succeeded'`,
      [owner.ownerId],
    );
  await eventually(undelivered, (left) => left.length === 0, 120_000);
  const heard = new Set(receiver.received(box).map(({ headers }) => String(headers['webhook-id'])));
  const deliveries = await site.sql<{ id: string }>('select id from webhook_deliveries where owner_id = $1', [
    owner.ownerId,
  ]);
  expect(deliveries.filter(({ id }) => !heard.has(id))).toEqual([]);
  process.stderr.write(
    `crash test of charges: ${JSON.stringify({ kills, messages: countsOf(sent), batches, requests: receiver.received(box).length, deliveries: deliveries.length })}\n`,
  );
}, 400_000);

/** Of one charge of a step: those of a step go on beside each other, so they draw from numbers of their own. */
const randomOf = (random: Random): Random => randomFrom(random.below(2 ** 31));

const countsOf = (sent: readonly Sent[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(sent, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length]));
