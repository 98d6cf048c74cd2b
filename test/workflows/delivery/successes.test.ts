/**
 * Successes of deliveries are recorded in one statement, which leaves the rows that a transaction leaves, and leaves to a
 * transaction what it may not decide. Rows and results are made here; nothing is sent.
 * @module
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startListener } from '../../../src/db/listener.ts';
import {
  type Claimed,
  claimFirstAttempts,
  claimRetries,
} from '../../../src/domains/delivery/webhooks/delivery.claim.service.ts';
import { releaseExpired } from '../../../src/domains/delivery/webhooks/delivery.lease.service.ts';
import { recordResults, recordSuccesses } from '../../../src/domains/delivery/webhooks/delivery.result.service.ts';
import type { Result } from '../../../src/domains/delivery/webhooks/delivery.send.service.ts';
import { hour, minute } from '../../../src/kernel/instant.ts';
import { claimLimits, deliveriesChannel } from '../../../src/relay/deliveries.ts';
import { addBacklog, countDeliveries, endLeases, type Subscribed, subscribedTo } from '../../support/backlog.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { businessNow, eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterEach(async () => {
  await bursar.world.sql('truncate webhook_deliveries, delivery_claims');
});
afterAll(() => bursar.close());

async function waiting(box: string, count: number, ordered = false): Promise<Subscribed> {
  const owner = await subscribedTo(bursar, box, ordered);
  await addBacklog(bursar, owner, { count, subject: ordered ? `'po_' || n` : 'null' });
  return owner;
}

const claim = async (): Promise<Claimed[]> =>
  (await bursar.infrastructure.database.write((tx) => claimFirstAttempts(tx, 1_000, claimLimits))).claimed;

const answered = (claimed: Claimed, status: number): Result => ({
  claimed,
  attempted: { status, timedOut: false, failure: null },
  tookMs: 7,
  retryAfterMs: 0,
  responseBody: null,
});

const unreached = (claimed: Claimed): Result => ({
  ...answered(claimed, 0),
  attempted: { status: null, timedOut: false, failure: 'refused' },
});

const record = async (results: readonly Result[]): Promise<readonly Result[]> =>
  recordSuccesses(bursar.infrastructure.database.read(), results, await businessNow(bursar.world));

const hoursOf = ({ webhookId }: Subscribed) =>
  bursar.world.sql(
    'select hour, attempts, failures, answered, answer_ms::int, slowest_ms from webhook_hours where webhook_id = $1',
    [webhookId],
  );

async function countHealth(webhookId: string, condition: string): Promise<number> {
  const rows = await bursar.world.sql(`select from webhook_health where webhook_id = $1 and ${condition}`, [webhookId]);
  return rows.length;
}

const succeeded = ({ webhookId }: Subscribed) => countDeliveries(bursar, webhookId, `status = 'succeeded'`);

test('the rows are those that a transaction leaves', async () => {
  const [one, other] = [await waiting('in-one-statement', 3), await waiting('in-a-transaction', 3)];
  const claimed = await claim();
  const resultsOf = ({ webhookId }: Subscribed) =>
    claimed.flatMap((delivery) => (delivery.webhookId === webhookId ? [answered(delivery, 204)] : []));
  // The attempts, of 7 ms, began in the hour before.
  const now = new Date(Math.ceil((await businessNow(bursar.world)).getTime() / hour) * hour);
  const { database } = bursar.infrastructure;
  expect(await recordSuccesses(database.read(), resultsOf(one), now)).toEqual([]);
  expect(await database.write((tx) => recordResults(tx, resultsOf(other), now))).toHaveLength(3);
  const rowsOf = ({ webhookId }: Subscribed) =>
    bursar.world.sql(
      `select to_jsonb(d) - '{id,seq,webhook_id,owner_id,event_id,created_at}'::text[] as row
       from webhook_deliveries d where webhook_id = $1 order by seq`,
      [webhookId],
    );
  const rows = await rowsOf(one);
  expect(rows).toHaveLength(3);
  const row = { status: 'succeeded', attempts: [], success_status: 204, success_ms: 7 };
  expect(rows[0]).toMatchObject({ row });
  expect(rows).toEqual(await rowsOf(other));
  const counted = { attempts: 3, failures: 0, answered: 3, answer_ms: 21, slowest_ms: 7 };
  expect(await hoursOf(one)).toEqual([{ hour: new Date(now.getTime() - hour), ...counted }]);
  expect(await hoursOf(one)).toEqual(await hoursOf(other));
});

/** Goal: the API shows each attempt, wherever it is stored: failures as records, a success in columns. */
describe('the attempts of a delivery', () => {
  const shownOf = async ({ webhooks, webhookId }: Subscribed) => {
    const [inList] = (await webhooks.listWebhookDeliveries({ params: { id: webhookId } })).data;
    if (inList === undefined) throw new Error('a delivery is listed');
    const whole = await webhooks.getWebhookDelivery({ params: { deliveryId: inList.id } });
    return { inList, whole };
  };
  const success = { responseStatus: 204, responseMs: 7, error: null };
  const resultIn = (result: Result, now: Date) =>
    bursar.infrastructure.database.write((tx) => recordResults(tx, [result], now));

  test('a success after a failure is shown behind it, with its own times', async () => {
    const owner = await waiting('at-the-second', 1);
    const now = await businessNow(bursar.world);
    const [first] = await claim();
    if (first === undefined) throw new Error('one waits');
    await resultIn(answered(first, 500), now);
    const due = new Date(now.getTime() + 5 * minute);
    const [second] = await bursar.infrastructure.database.write((tx) =>
      claimRetries(tx, owner.webhookId, due, 1, claimLimits),
    );
    if (second === undefined) throw new Error('a retry is due');
    await resultIn(answered(second, 204), due);
    const { inList, whole } = await shownOf(owner);
    expect(inList).toMatchObject({ status: 'succeeded', attempt: 2, deliveredAt: due.toISOString(), ...success });
    const beganAt = (at: Date) => new Date(at.getTime() - 7).toISOString();
    expect(whole.attempts).toEqual([
      expect.objectContaining({ attempt: 1, deliveryId: `${first.id}.1`, at: beganAt(now), responseStatus: 500 }),
      { attempt: 2, deliveryId: `${first.id}.2`, at: beganAt(due), ...success, responseBody: null },
    ]);
  });

  test('a success that the version before recorded is shown as before', async () => {
    const owner = await waiting('as-before', 1);
    const [claimed] = await claim();
    if (claimed === undefined) throw new Error('one waits');
    await record([answered(claimed, 204)]);
    const now = await shownOf(owner);
    await bursar.world.sql(
      `update webhook_deliveries set attempts = $1::jsonb, success_status = null, success_ms = null where id = $2`,
      [JSON.stringify(now.whole.attempts), claimed.id],
    );
    expect(now.inList).toMatchObject(success);
    expect(await shownOf(owner)).toEqual(now);
  });
});

test('failures, ordered deliveries, and receivers that have been failing are left to the transaction', async () => {
  const plain = await waiting('plain', 4);
  const failing = await waiting('has-failed', 2);
  const ordered = await waiting('ordered', 2, true);
  await bursar.world.sql('update webhook_health set failures_in_row = 1, failing_since = now() where webhook_id = $1', [
    failing.webhookId,
  ]);
  const claimed = await claim();
  const [lost] = claimed.filter(({ webhookId }) => webhookId === plain.webhookId);
  const results = claimed.map((delivery) => answered(delivery, delivery === lost ? 500 : 200));
  const left = await record(results);
  // The last success beside a failure is left too, because a success ends the row of failures.
  const last = results.findLast(({ claimed: delivery }) => delivery.webhookId === plain.webhookId);
  const expected = results.filter(
    (result) => result.claimed === lost || result === last || result.claimed.webhookId !== plain.webhookId,
  );
  expect(new Set(left)).toEqual(new Set(expected));
  expect(await Promise.all([plain, failing, ordered].map(succeeded))).toEqual([2, 0, 0]);
  const { database } = bursar.infrastructure;
  const now = await businessNow(bursar.world);
  expect(await database.write((tx) => recordResults(tx, left, now))).toHaveLength(left.length);
  expect(await Promise.all([plain, failing, ordered].map(succeeded))).toEqual([3, 2, 2]);
  const health = 'select failures_in_row, failing_since from webhook_health where webhook_id = $1';
  expect(await bursar.world.sql(health, [failing.webhookId])).toEqual([{ failures_in_row: 0, failing_since: null }]);
});

/**
 * Goal: a receiver's health is that of its results in their order, although most successes are saved without looking at
 * it. Method: batches of one receiver, recorded as the relay records them; then the row of its health.
 */
describe('failures and successes of a healthy receiver in one batch', () => {
  const recorded = async (box: string, made: readonly ((claimed: Claimed) => Result)[]) => {
    const { webhookId } = await waiting(box, made.length);
    const left = await record((await claim()).map((delivery, n) => made[n]!(delivery)));
    const now = await businessNow(bursar.world);
    await bursar.infrastructure.database.write((tx) => recordResults(tx, left, now));
    const [health] = await bursar.world.sql(
      `select failures_in_row, timeouts_in_row, failing_since is not null as is_failing
       from webhook_health where webhook_id = $1`,
      [webhookId],
    );
    return { left: left.length, ...health };
  };
  const ok = (claimed: Claimed) => answered(claimed, 200);
  const failed = (claimed: Claimed) => answered(claimed, 500);
  const healthy = { failures_in_row: 0, timeouts_in_row: 0, is_failing: false };

  test('a success after five attempts without an answer ends their row', async () => {
    const made = [...Array.from({ length: 5 }, () => unreached), ok];
    expect(await recorded('reached-again', made)).toEqual({ left: 6, ...healthy });
  });

  test('failures with a success after each are none in a row, and only the last success is left', async () => {
    const made = Array.from({ length: 5 }, () => [unreached, ok]).flat();
    expect(await recorded('alternating', made)).toEqual({ left: 6, ...healthy });
  });

  test('a failure after a success counts', async () => {
    const counted = { left: 2, failures_in_row: 1, timeouts_in_row: 0, is_failing: true };
    expect(await recorded('fails-now', [ok, failed])).toEqual(counted);
  });
});

test('a success counts once, and not after its claim has expired', async () => {
  const owner = await waiting('twice', 2);
  const [first, second] = await claim();
  if (first === undefined || second === undefined) throw new Error('two wait');
  await bursar.world.sql('update delivery_claims set seqs = array_remove(seqs, $1::bigint)', [second.seq]);
  const results = [answered(first, 200), answered(second, 200)];
  expect(await Promise.all([record(results), record(results)])).toEqual([[], []]);
  expect(await hoursOf(owner)).toMatchObject([{ attempts: 1 }]);
  expect(await succeeded(owner)).toBe(1);
  expect(await countDeliveries(bursar, owner.webhookId, `status = 'pending' and id = '${second.id}'`)).toBe(1);
});

/** What is claimed already, as after PostgreSQL's clock was set forward by more than it bounds old claims by. */
async function claimAgain(): Promise<number> {
  const [copy] = await bursar.world.sql<{ id: number }>(
    `insert into delivery_claims (webhook_id, is_retry, lease_until, seqs)
     select webhook_id, is_retry, lease_until, seqs from delivery_claims returning id::int`,
  );
  return copy?.id ?? 0;
}

test('a delivery that two claims have counts one of their attempts, as the clock of PostgreSQL may be set forward', async () => {
  const owner = await waiting('claimed-twice', 1);
  const [first] = await claim();
  if (first === undefined) throw new Error('one waits');
  const second = { ...first, claim: await claimAgain() };
  const { database } = bursar.infrastructure;
  const now = await businessNow(bursar.world);
  const fails = (claimed: Claimed) => database.write((tx) => recordResults(tx, [answered(claimed, 500)], now));
  expect(await fails(first)).toEqual([first.id]);
  const third = { ...first, claim: await claimAgain() };
  expect(await fails(second)).toEqual([]);
  // As after an answer to another delivery: the receiver has not been failing, so a success needs no transaction.
  await bursar.world.sql('update webhook_health set failures_in_row = 0, failing_since = null where webhook_id = $1', [
    owner.webhookId,
  ]);
  expect(await record([answered(third, 200)])).toEqual([]);
  expect(
    await countDeliveries(bursar, owner.webhookId, `status = 'pending' and attempts_made = 1 and claims = 1`),
  ).toBe(1);
  expect(await bursar.world.sql('select from delivery_claims')).toEqual([]);
});

test.each(['statement', 'transaction'])(
  'a result that is late, recorded by a %s, leaves the delivery to the claim that has it now',
  async (how) => {
    await waiting(`late-by-${how}`, 2);
    const [first] = await claim();
    const { database } = bursar.infrastructure;
    await endLeases(bursar);
    await database.write((tx) => releaseExpired(tx));
    const again = await claim();
    const [same, other] = [again.find(({ id }) => id === first?.id), again.find(({ id }) => id !== first?.id)];
    if (first === undefined || same === undefined || other === undefined) throw new Error('two wait');
    const results = [answered(first, 200), answered(other, 200)];
    const now = await businessNow(bursar.world);
    if (how === 'statement') expect(await record(results)).toEqual([]);
    else expect(await database.write((tx) => recordResults(tx, results, now))).toEqual([other.id]);
    // It is under way, so nobody else gets it, and its own result counts.
    expect(await claim()).toEqual([]);
    expect(await database.write((tx) => recordResults(tx, [answered(same, 200)], now))).toEqual([same.id]);
  },
);

test('the release of the first of two claims of a delivery leaves it to the second', async () => {
  const owner = await waiting('claimed-over', 1);
  const [first] = await claim();
  if (first === undefined) throw new Error('one waits');
  const { database } = bursar.infrastructure;
  const second = { ...first, claim: await claimAgain() };
  await bursar.world.sql(`update delivery_claims set lease_until = now() - interval '1 second' where id = $1`, [
    first.claim,
  ]);
  await database.write((tx) => releaseExpired(tx));
  const now = await businessNow(bursar.world);
  expect(await database.write((tx) => recordResults(tx, [answered(first, 200)], now))).toEqual([]);
  expect(await database.write((tx) => recordResults(tx, [answered(second, 200)], now))).toEqual([first.id]);
  expect(await succeeded(owner)).toBe(1);
});

test('a probed receiver rests after a first attempt without an answer, not after a retry, and its answer is announced', async () => {
  const owner = await waiting('rests', 3);
  await bursar.world.sql('update webhook_health set timeouts_in_row = 4, failures_in_row = 4 where webhook_id = $1', [
    owner.webhookId,
  ]);
  const { database, log } = bursar.infrastructure;
  const now = await businessNow(bursar.world);
  const save = (result: Result) => database.write((tx) => recordResults(tx, [result], now));
  const isResting = async () =>
    (await countHealth(owner.webhookId, "probe_after between now() + interval '0.1 s' and now() + interval '1 s'")) ===
    1;
  let announced = 0;
  const listening = Promise.withResolvers<void>();
  const listener = startListener({
    url: bursar.world.config.DATABASE_URL,
    log,
    channels: { [deliveriesChannel]: () => announced++ },
    applicationName: 'bursar-test-listener',
    onListening: () => listening.resolve(),
  });
  try {
    await listening.promise;
    const [first, second, third] = await claim();
    if (first === undefined || second === undefined || third === undefined) throw new Error('three wait');
    await save(unreached({ ...first, attempt: 2 }));
    expect(await countHealth(owner.webhookId, 'timeouts_in_row = 5')).toBe(1);
    expect(await isResting()).toBe(false);
    await save(unreached(second));
    expect(await isResting()).toBe(true);
    expect(announced).toBe(0);
    await save(answered(third, 200));
    await eventually(
      async () => announced,
      (count) => count === 1,
    );
  } finally {
    await listener.stop();
  }
});
