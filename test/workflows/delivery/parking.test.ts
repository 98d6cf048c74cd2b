/**
 * Goal: a parked delivery is freed by every end of the one before it, whatever runs at the same time and whichever
 * version ends it, and parking costs little. Method: backlogs as rows; the services in transactions that the test holds
 * open, on a real database.
 * @module
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { runSql } from '../../../src/db/statement.ts';
import {
  type Claimed,
  claimRetries,
  freeForgottenFrom,
} from '../../../src/domains/delivery/webhooks/delivery.claim.service.ts';
import { endRetriesOf } from '../../../src/domains/delivery/webhooks/delivery.end.service.ts';
import { releaseExpired } from '../../../src/domains/delivery/webhooks/delivery.lease.service.ts';
import {
  firstSubject,
  freeNextOf,
  parkBlocked,
} from '../../../src/domains/delivery/webhooks/delivery.order.service.ts';
import { recordResults } from '../../../src/domains/delivery/webhooks/delivery.result.service.ts';
import { minute } from '../../../src/kernel/instant.ts';
import { claimInSteps } from '../../../src/relay/first-attempts.ts';
import {
  addBacklog,
  countDeliveries,
  endLeases,
  inside,
  type Subscribed,
  subscribedTo,
} from '../../support/backlog.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { someoneWaits } from '../../support/lock-waits.ts';
import { businessNow, eventually } from '../../support/world.ts';

const limits = { perReceiver: 100, leaseMs: 60 * minute };

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterEach(async () => {
  await bursar.stopRelays();
  await bursar.world.sql('truncate webhook_deliveries, delivery_claims');
});
afterAll(() => bursar.close());

const write: DeliveryWorld['infrastructure']['database']['write'] = (work) =>
  bursar.infrastructure.database.write(work);
const claim = (perReceiver = limits.perReceiver) =>
  claimInSteps(bursar.infrastructure.database, 1_000, { ...limits, perReceiver });

/** An ordered subscription with `count` deliveries of one subject, those behind the first parked. */
const parkedBehindOne = async (box: string, count: number, attempts = 0): Promise<Subscribed> => {
  const owner = await subscribedTo(bursar, box, true);
  await addBacklog(bursar, owner, { count: 1, subject: `'po_1'`, attempts });
  await addBacklog(bursar, owner, { count: count - 1, subject: `'po_1'` });
  await write((tx) => parkBlocked(tx, [owner.webhookId]));
  expect(await countOf(owner, 'is_parked')).toBe(count - 1);
  return owner;
};
const countOf = ({ webhookId }: Subscribed, condition: string): Promise<number> =>
  countDeliveries(bursar, webhookId, condition);

type Row = { id: string; seq: string; status: string; is_parked: boolean };
const rowsOf = ({ webhookId }: Subscribed): Promise<Row[]> =>
  bursar.world.sql<Row>('select * from webhook_deliveries where webhook_id = $1 order by seq', [webhookId]);
/** The rows of a subscription, in their order. */
const standing = async (owner: Subscribed): Promise<string[]> =>
  (await rowsOf(owner)).map((row) => (row.is_parked ? 'parked' : row.status));

/** As a version that does not park writes it. */
const olderEnd = `update webhook_deliveries set status = 'succeeded', lease_until = null, next_attempt_at = null,
  attempts_made = attempts_made + 1, claims = greatest(claims, attempts_made + 1), delivered_at = created_at where id = $1`;

describe('a version that does not park', () => {
  test('claims and ends what is parked, and what it leaves parked is freed afterwards', async () => {
    const owner = await parkedBehindOne('older', 4);
    const [first, second] = await rowsOf(owner);
    // As that version writes it, without the columns that it does not know.
    const succeeds = (row: Row | undefined) => bursar.world.sql(olderEnd, [row?.id]);
    await succeeds(first);
    await bursar.world.sql(
      `update webhook_deliveries set status = 'delivering', claims = claims + 1, lease_until = now() + interval '1 hour'
       where id = $1`,
      [second?.id],
    );
    for (const _look of [1, 2]) {
      await write((tx) => freeForgottenFrom(tx, firstSubject));
      expect(await standing(owner)).toEqual(['succeeded', 'delivering', 'parked', 'parked']);
    }
    await succeeds(second);
    await write((tx) => freeForgottenFrom(tx, firstSubject));
    expect(await standing(owner)).toEqual(['succeeded', 'succeeded', 'pending', 'parked']);
  });

  test('many that it ended while they were parked do not delay the next one of their subject', async () => {
    const owner = await parkedBehindOne('many-left-parked', 300);
    await bursar.world.sql(
      `update webhook_deliveries set status = 'succeeded', next_attempt_at = null, attempts_made = 1, claims = 1,
         delivered_at = created_at
       where id in (select id from webhook_deliveries where webhook_id = $1 order by seq limit 250)`,
      [owner.webhookId],
    );
    await write((tx) => freeForgottenFrom(tx, firstSubject));
    expect(await countOf(owner, `is_parked and status <> 'pending'`)).toBe(0);
    expect((await standing(owner)).slice(249, 252)).toEqual(['succeeded', 'pending', 'parked']);
  });

  test('a relay sends all that it left parked', async () => {
    const owner = await parkedBehindOne('left-parked', 4);
    const [first] = await rowsOf(owner);
    await bursar.world.sql(olderEnd, [first?.id]);
    await bursar.relay({ pollMs: 200 });
    await eventually(
      () => countOf(owner, `status = 'succeeded'`),
      (succeeded) => succeeded === 4,
    );
  });
});

describe('what parking costs', () => {
  test('many crowded receivers share what one claim looks at, and each is looked at', async () => {
    const owners: Subscribed[] = [];
    for (let n = 0; n < 25; n++) {
      const owner = await subscribedTo(bursar, `crowded-${n}`, true);
      await addBacklog(bursar, owner, { count: 300, subject: `'po_1'` });
      owners.push(owner);
    }
    const { claimed } = await claim();
    expect(claimed).toHaveLength(owners.length);
    const parked = await Promise.all(owners.map((owner) => countOf(owner, 'is_parked')));
    expect(Math.min(...parked)).toBeGreaterThan(0);
    expect(Math.max(...parked)).toBeLessThanOrEqual(50);
  }, 300_000);

  test('nothing is locked that can be sent, and nothing is parked while no place is free', async () => {
    const subjects = await subscribedTo(bursar, 'many-heads', true);
    await addBacklog(bursar, subjects, { count: 300, subject: `'po_' || n` });
    expect((await claim(1)).claimed).toHaveLength(1);
    expect(await countOf(subjects, `status = 'pending' and xmax::text <> '0'`)).toBe(0);

    const full = await subscribedTo(bursar, 'full', true);
    await addBacklog(bursar, full, { count: 1, subject: `'po_1'` });
    expect((await claim(1)).claimed).toHaveLength(1);
    await addBacklog(bursar, full, { count: 300, subject: `'po_1'` });
    expect(await claim(1)).toEqual({ claimed: [], hasMore: false });
    expect(await countOf(full, 'is_parked')).toBe(0);
    expect((await claim(2)).hasMore).toBe(true);
    expect(await countOf(full, 'is_parked')).toBe(300);
  });
});

describe('an end and a parking at the same time', () => {
  const succeed = (row: Row | undefined): [string, string[]] => [olderEnd, [row?.id ?? '']];
  const endOf = ({ webhookId }: Subscribed, row: Row | undefined) => [
    { webhookId, subjectId: 'po_1', seq: String(row?.seq) },
  ];
  const twoOfOne = async (box: string): Promise<Subscribed> => {
    const owner = await subscribedTo(bursar, box, true);
    await addBacklog(bursar, owner, { count: 2, subject: `'po_1'` });
    return owner;
  };
  const park = (owner: Subscribed) => write((tx) => parkBlocked(tx, [owner.webhookId]));
  const isClaimable = async (owner: Subscribed): Promise<void> => {
    const [, second] = await rowsOf(owner);
    expect(await standing(owner)).toEqual(['succeeded', 'pending']);
    expect((await claim()).claimed.map(({ id }) => id)).toEqual([second?.id]);
  };

  test('the end has freed already, and parking comes before its commit: not parked', async () => {
    const owner = await twoOfOne('freed-before');
    const [first] = await rowsOf(owner);
    await write(async (tx) => {
      await runSql(tx, ...succeed(first));
      await freeNextOf(tx, endOf(owner, first));
      await park(owner);
    });
    await isClaimable(owner);
  });

  test('parking comes between the end and its freeing: not parked', async () => {
    const owner = await twoOfOne('between');
    const [first] = await rowsOf(owner);
    await write(async (tx) => {
      await runSql(tx, ...succeed(first));
      await park(owner);
      await freeNextOf(tx, endOf(owner, first));
    });
    await isClaimable(owner);
  });

  test('the end comes while parking is not committed: it waits, and frees what was parked', async () => {
    const owner = await twoOfOne('parked-first');
    const [first] = await rowsOf(owner);
    let ending: Promise<void> | undefined;
    await write(async (tx) => {
      expect(await parkBlocked(tx, [owner.webhookId])).toMatchObject([{ parked: 1 }]);
      ending = write(async (other) => {
        await runSql(other, ...succeed(first));
        await freeNextOf(other, endOf(owner, first));
      });
      await someoneWaits(bursar.world);
    });
    await ending;
    await isClaimable(owner);
  });

  test('a claim that ends what has no event waits for no end that frees the same delivery', async () => {
    const owner = await parkedBehindOne('lost', 3);
    const [head, lost, parked] = await rowsOf(owner);
    await claim();
    await bursar.world.sql(`update webhook_deliveries set is_parked = false, event_id = 'evt_purged' where id = $1`, [
      lost?.id,
    ]);
    // Claimed next, because it has no subject; its event is purged too.
    await addBacklog(bursar, owner, { count: 1 });
    await bursar.world.sql(`update webhook_deliveries set event_id = 'evt_purged' where subject_id is null`);
    await write(async (tx) => {
      await runSql(tx, ...succeed(head));
      await freeNextOf(tx, endOf(owner, head));
      await write(async (other) => {
        await runSql(other, `set local lock_timeout = '10s'`); // Waiting is an error here, and not a hanging test.
        await claimInSteps(inside(other), 1_000, limits);
      });
    });
    expect(await standing(owner)).toEqual(['succeeded', 'dead', 'pending', 'dead']);
    expect((await claim()).claimed.map(({ id }) => id)).toEqual([parked?.id]);
  });
});

describe('each end of a head frees the next', () => {
  const failed = (claimed: Claimed) => ({
    claimed,
    attempted: { status: 500, timedOut: false, failure: null },
    tookMs: 1,
    retryAfterMs: 0,
    responseBody: null,
  });
  const record = async (claimed: readonly Claimed[]) => {
    const now = await businessNow(bursar.world);
    return write((tx) => recordResults(tx, claimed.map(failed), now));
  };

  test('a failure with attempts left frees nothing, the last one does', async () => {
    const owner = await parkedBehindOne('dead-head', 3, 3);
    for (const expected of [
      ['pending', 'parked', 'parked'],
      ['dead', 'pending', 'parked'],
    ]) {
      await bursar.world.sql(`update webhook_deliveries set next_attempt_at = created_at where attempts_made > 0`);
      const now = await businessNow(bursar.world);
      await record(await write((tx) => claimRetries(tx, owner.webhookId, now, 10, limits)));
      expect(await standing(owner)).toEqual(expected);
    }
  });

  test('one that is given up', async () => {
    const owner = await parkedBehindOne('given-up', 3, 1);
    await write((tx) => endRetriesOf(tx, { webhookId: owner.webhookId, deliveryId: null }, 10, 'given up'));
    expect(await standing(owner)).toEqual(['dead', 'pending', 'parked']);
  });

  test('one whose holder died frees it by the result of its next claim, and not by the late one', async () => {
    const owner = await parkedBehindOne('died', 3);
    const { claimed: late } = await claim();
    await endLeases(bursar);
    await write((tx) => releaseExpired(tx));
    const { claimed } = await claim();
    expect(await record(late)).toEqual([]);
    expect(await standing(owner)).toEqual(['pending', 'parked', 'parked']);
    const delivered = claimed.map((one) => ({ ...failed(one), attempted: { ...failed(one).attempted, status: 200 } }));
    const now = await businessNow(bursar.world);
    expect(await write((tx) => recordResults(tx, delivered, now))).toHaveLength(1);
    expect(await standing(owner)).toEqual(['succeeded', 'pending', 'parked']);
  });
});
