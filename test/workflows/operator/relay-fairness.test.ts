/**
 * Goal: an owner with many runs to wake, start or rescue does not delay other owners. Method: the relay on real rows, with a
 * Temporal that counts, fails or hangs as the test says.
 * @module
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { claimStatement, interleaved } from '../../../src/relay/claims.ts';
import { type RelayWorld, startRelayWorld } from '../../support/relay-world.ts';
import { eventually } from '../../support/world.ts';

let world: RelayWorld;
beforeAll(async () => {
  world = await startRelayWorld();
});
beforeEach(() => world.clear());
afterAll(() => world.close());

const wanted = { wanted_wake: 'true', started_epoch: `'epoch'` };
const unstarted = { started_epoch: 'null' };
const overdue = { started_epoch: `'epoch'`, due_at: `now() - interval '3 minutes'` };
const idsOf = (ownerId: string) => world.called.filter((one) => one.ownerId === ownerId).map(({ id }) => id);

describe('shares', () => {
  test.each([
    ['wakes', wanted],
    ['starts', unstarted],
    ['rescues', overdue],
  ])('%s: the first pass reaches every other owner and type, however many one owner has', async (_, values) => {
    await world.rows('webhookDelivery', 'own_flood', 5_000, values);
    await world.rows('webhookDelivery', 'own_other', 1, values);
    await world.rows('intentLifecycle', 'own_a', 1, values);
    await world.rows('cardLifecycle', 'own_z', 1, values);
    // Eight rescues in a pass are four types' worth: what has become overdue is noted a thousand at a time.
    for (let passes = 0; passes < (values === overdue ? 6 : 1); passes++) await world.relay().pass();
    expect(idsOf('own_other')).toHaveLength(1);
    expect(idsOf('own_a')).toHaveLength(1);
    expect(idsOf('own_z')).toHaveLength(1);
    expect(idsOf('own_flood').length).toBeLessThanOrEqual(32 * 6);
    expect(idsOf('own_flood').length).toBeGreaterThan(0);
  });

  test('with thousands of owners in one type, each has its turn, and another type has its own in each pass', async () => {
    await world.sql(
      `insert into workflow_runs (id, workflow, subject_id, owner_id, stage, created_at, wanted_wake, started_epoch)
       select 'intent/' || n || '-' || m, 'intentLifecycle', 'int', 'own_' || lpad(n::text, 4, '0'), 'open', now(), true, 'epoch'
       from generate_series(1, 200) n, generate_series(1, 5) m`,
    );
    await world.rows('cardLifecycle', 'own_z', 100, wanted);
    const relay = world.relay();
    await relay.pass();
    expect(idsOf('own_z')).toHaveLength(16);
    for (let pass = 0; pass < 12; pass++) await relay.pass();
    const owners = new Set(world.called.map(({ ownerId }) => ownerId));
    expect(owners.size).toBe(201);
  });

  test('two owners share the rows of a batch, which has no more than it is to have', async () => {
    for (const ownerId of ['own_a', 'own_b']) await world.rows('cardLifecycle', ownerId, 50, wanted);
    const claimed = await world.sql(
      `select owner_id as owner, count(*)::int as rows from claim_runs('wakes', 32, '{}', '{}', now()) group by 1 order by 1`,
    );
    expect(claimed).toEqual([
      { owner: 'own_a', rows: 16 },
      { owner: 'own_b', rows: 16 },
    ]);
  });

  test('one type and owner alone has the whole batch, and all passes together reach each row once', async () => {
    await world.rows('cardLifecycle', 'own_a', 200, wanted);
    const relay = world.relay();
    expect((await relay.pass()).woken).toBe(32);
    while ((await relay.pass()).woken > 0);
    expect(new Set(idsOf('own_a')).size).toBe(200);
    expect(world.called).toHaveLength(200);
  });

  test('a batch is served in turns: of each owner the first, then of each the second', () => {
    const row = fc.record({ workflow: fc.constantFrom('a', 'b'), ownerId: fc.constantFrom('1', '2', '3') });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), (claimed) => {
        const served = interleaved(claimed);
        expect(served.toSorted(byText)).toEqual(claimed.toSorted(byText));
        const counts = new Map<string, number>();
        let before = 0;
        for (const one of served) {
          const rank = (counts.get(textOf(one)) ?? 0) + 1;
          counts.set(textOf(one), rank);
          expect(rank).toBeGreaterThanOrEqual(before);
          before = rank;
        }
      }),
    );
  });

  test.each([
    ['there were none', 0],
    ['all were started and none was due', 5_000],
  ])('a batch out of 100,000 rows of one owner reads a few hundred, with statistics of when %s', async (_, before) => {
    const client = new pg.Client({ connectionString: world.config.DATABASE_URL });
    await client.connect();
    try {
      await world.rows('cardLifecycle', 'own_quiet', before, { started_epoch: `'epoch'`, due_at: 'null' });
      await world.sql('vacuum analyze workflow_runs');
      const claim = (queue: string) => ({
        name: 'claim',
        text: claimStatement,
        values: [queue, 32, '{}', [], new Date()],
      });
      for (let times = 0; times < 10; times++) await client.query(claim('wakes'));
      // A look of autovacuum would hide what the statistics of before make of it.
      await world.sql('alter table workflow_runs set (autovacuum_enabled = off)');
      await world.rows('webhookDelivery', 'own_flood', 100_000, {
        wanted_wake: `n % 3 = 0`,
        started_epoch: `case when n % 3 <> 1 then 'epoch' end`,
        due_at: `now() - interval '1 hour'`,
        rescued_at: `case when n % 3 = 2 then '-infinity'::timestamptz end`,
      });
      await world.rows('intentLifecycle', 'own_a', 1, wanted);
      for (const queue of ['wakes', 'starts', 'rescues']) {
        await client.query('begin');
        expect((await client.query(claim(queue))).rowCount).toBeGreaterThan(16);
        const { rows } = await client.query(
          `select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname = 'workflow_runs'`,
        );
        expect(rows[0].read).toBeGreaterThan(16);
        expect(rows[0].read).toBeLessThan(1_000);
        await client.query('rollback');
      }
    } finally {
      await client.end();
      await world.sql('alter table workflow_runs reset (autovacuum_enabled)');
    }
  });
});

describe('pace', () => {
  test('an overdue run is woken once a minute, whatever else is noted of it', async () => {
    await world.rows('intentLifecycle', 'own_a', 3, overdue);
    await world.rows('checkout', 'own_a', 1, { ...overdue, ...unstarted });
    await world.rows('cardLifecycle', 'own_a', 1, { ...overdue, wanted_wake: 'true' });
    const relay = world.relay();
    for (let pass = 0; pass < 4; pass++) await relay.pass();
    expect(world.called).toHaveLength(5);
    await world.sql(
      `update workflow_runs set rescued_at = now() - interval '61 seconds' where id = 'intentLifecycle/own_a-2'`,
    );
    for (let pass = 0; pass < 4; pass++) await relay.pass();
    expect(world.called).toHaveLength(6);
    expect(world.called[5]).toEqual({ kind: 'wake', id: 'intentLifecycle/own_a-2', ownerId: 'own_a' });
  });

  test('a run whose deadline was moved is not rescued until the new one is overdue', async () => {
    await world.rows('intentLifecycle', 'own_a', 1, overdue);
    await world.relay().pass();
    await world.sql(
      `update workflow_runs set due_at = now() + interval '1 hour', rescued_at = now() - interval '2 minutes'`,
    );
    await world.relay().pass();
    await world.sql(`update workflow_runs set due_at = now() - interval '1 minute'`);
    await world.relay().pass();
    expect(world.called).toHaveLength(1);
    await world.sql(`update workflow_runs set due_at = now() - interval '3 minutes'`);
    await world.relay().pass();
    expect(world.called).toHaveLength(2);
  });

  test('a slow wake keeps neither the starts nor the rescues of its pass waiting', async () => {
    const relay = world.relay();
    await relay.pass(); // Its look for what is newly overdue comes once a second, and is done.
    await world.rows('intentLifecycle', 'own_wake', 1, wanted);
    await world.rows('intentLifecycle', 'own_start', 1, unstarted);
    await world.rows('intentLifecycle', 'own_rescue', 1, { ...overdue, rescued_at: `'-infinity'` });
    let isRescued = (): void => undefined;
    const rescue = new Promise<void>((resolve) => {
      isRescued = resolve;
    });
    // The wake and the start are answered when the rescue has been: calls one after the other would not end in time.
    world.onCall(async (_, { ownerId }) => (ownerId === 'own_rescue' ? isRescued() : rescue));
    expect(await relay.pass()).toMatchObject({ woken: 1, started: 1, rescued: 1 });
    expect(world.called.map(({ ownerId }) => ownerId)).toEqual(['own_wake', 'own_start', 'own_rescue']);
  });

  test('no row is taken twice in a pass', async () => {
    await world.rows('intentLifecycle', 'own_a', 4, { ...overdue, ...unstarted, wanted_wake: 'true' });
    // Temporal has the run, and PostgreSQL has not recorded it: the row is in all three queues.
    world.onCall(() =>
      world.sql(`update workflow_runs set wanted_wake = false, rescued_at = '-infinity'`).then(() => undefined),
    );
    await world.relay().pass();
    expect(world.called).toHaveLength(4);
  });

  test('rows of another Temporal count as not started, those that are due first', async () => {
    await world.rows('intentLifecycle', 'own_a', 20, {
      started_epoch: `'before'`,
      due_at: `now() + n * interval '1 minute'`,
    });
    await world.rows('agentPolicy', 'own_a', 1, { started_epoch: `'before'`, is_open: 'false' });
    await world.relay().pass();
    expect(world.called.map(({ kind, id }) => `${kind} ${id}`).toSorted()).toEqual(
      Array.from({ length: 16 }, (_, n) => `start intentLifecycle/own_a-${n + 1}`).toSorted(),
    );
  });
});

describe('runs that cannot be reached', () => {
  test('one of them does not make the pass fail, and is tried again after its pause', async () => {
    await world.rows('intentLifecycle', 'own_a', 1, wanted);
    world.onCall(async () => {
      throw new Error('this run is stuck');
    });
    const relay = world.relay();
    expect(await relay.pass()).toEqual({ woken: 0, started: 0, rescued: 0, hadWork: false });
    await relay.pass();
    expect(world.called).toHaveLength(1);
    await world.sql(`update workflow_runs set waking_until = now() - interval '1 second'`);
    world.onCall(async () => undefined);
    expect((await relay.pass()).woken).toBe(1);
  });

  test('one that fails again and again does not make Temporal count as away', async () => {
    await world.rows('intentLifecycle', 'own_a', 1, wanted);
    world.onCall(async () => {
      throw new Error('this run is stuck');
    });
    const relay = world.relay();
    for (let pass = 0; pass < 10; pass++) {
      await world.sql(`update workflow_runs set waking_until = now() - interval '1 second' where not wanted_wake`);
      expect(await relay.pass()).toMatchObject({ woken: 0 });
    }
    expect(world.called).toHaveLength(10);
  });

  test('after PostgreSQL was away, also in the middle of its calls, the relay goes on', async () => {
    await world.rows('intentLifecycle', 'own_a', 20, wanted);
    const relay = world.relay();
    world.onCall(async () => {
      await world.sql(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'relay'`);
      throw new Error('the database is away');
    });
    await expect(relay.pass()).rejects.toThrow();
    world.onCall(async () => undefined);
    await world.sql(`update workflow_runs set waking_until = now() - interval '1 second' where not wanted_wake`);
    await eventually(
      async () => {
        await relay.pass().catch(() => undefined); // A connection that ended may be met once more.
        return world.sql('select id from workflow_runs where wanted_wake or waking_until is not null');
      },
      (waiting) => waiting.length === 0,
    );
  });

  test('hanging calls delay no other row: the pass goes on, and the next pass takes the rows that were not begun', async () => {
    await world.rows('intentLifecycle', 'own_flood', 200, wanted);
    let release = (): void => undefined;
    const hanging = new Promise<void>((resolve) => {
      release = resolve;
    });
    world.onCall((_, { ownerId }) => (ownerId === 'own_flood' ? hanging : Promise.resolve()));
    const relay = world.relay({ batchMs: 3_000 });
    await world.rows('intentLifecycle', 'own_a', 1, wanted);
    await relay.pass();
    expect(idsOf('own_a')).toHaveLength(1);
    expect(idsOf('own_flood')).toHaveLength(7 + 1); // A lane each; the one of the other owner was free again.
    await world.rows('cardLifecycle', 'own_b', 1, wanted);
    await relay.pass();
    expect(idsOf('own_b')).toHaveLength(1);
    release();
    await relay.settled();
    while ((await relay.pass()).woken > 0);
    expect(new Set(idsOf('own_flood')).size).toBe(200);
    expect(await world.sql('select 1 from workflow_runs where wanted_wake or waking_until is not null')).toEqual([]);
  });

  test('a slow Temporal does not count as away: the pass succeeds, and starts no further calls', async () => {
    await world.rows('intentLifecycle', 'own_a', 100, wanted);
    let most = 0;
    let now = 0;
    world.onCall(async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 2_400));
      now -= 1;
    });
    const relay = world.relay({ batchMs: 900 });
    for (let pass = 0; pass < 8; pass++) expect((await relay.pass()).hadWork).toBe(true);
    await relay.settled();
    expect(most).toBeGreaterThan(8);
    expect(most).toBeLessThanOrEqual(24 + 2);
    expect(await world.sql('select 1 from workflow_runs where waking_until is not null')).toEqual([]);
  });

  test('a Temporal whose front end answers while no run can be reached is away', async () => {
    await world.rows('intentLifecycle', 'own_a', 20, wanted);
    world.onCall(async () => {
      throw new Error('no history service');
    });
    await expect(world.relay().pass()).rejects.toThrow('none of 20 workflow runs could be reached');
  });

  test('a pass fails while Temporal is away, and no row is lost', async () => {
    await world.rows('intentLifecycle', 'own_a', 3, wanted);
    world.goAway(true);
    const relay = world.relay();
    await expect(relay.pass()).rejects.toThrow('none of 3 workflow runs could be reached');
    world.goAway(false);
    await world.sql(`update workflow_runs set waking_until = now() - interval '1 second'`);
    expect((await relay.pass()).woken).toBe(3);
  });
});

describe('several workers', () => {
  test('share the rows: each is taken once, and none is left', async () => {
    await world.rows('intentLifecycle', 'own_a', 150, wanted);
    await world.rows('intentLifecycle', 'own_b', 150, unstarted);
    await world.rows('cardLifecycle', 'own_c', 40, overdue);
    world.onCall(() => new Promise((resolve) => setTimeout(resolve, 2)));
    await Promise.all([world.relay(), world.relay(), world.relay()].map(worksOff));
    expect(new Set(world.called.map(({ id }) => id)).size).toBe(340);
    expect(world.called).toHaveLength(340);
  });

  test('a row that a transaction holds is left out, and taken when it is free', async () => {
    await world.rows('intentLifecycle', 'own_a', 3, wanted);
    const relay = world.relay();
    await world.database.write(async (tx) => {
      await tx.execute(`select 1 from workflow_runs where id = 'intentLifecycle/own_a-2' for update`);
      expect((await relay.pass()).woken).toBe(2);
    });
    expect((await relay.pass()).woken).toBe(1);
  });
});

/** Until a pass has nothing more, three times in a row: rows that another one holds may come back. */
async function worksOff(relay: ReturnType<RelayWorld['relay']>): Promise<void> {
  for (let idle = 0; idle < 3; ) {
    const { woken, started, rescued } = await relay.pass();
    idle = woken + started + rescued === 0 ? idle + 1 : 0;
  }
}

const textOf = ({ workflow, ownerId }: { workflow: string; ownerId: string }): string => `${workflow} ${ownerId}`;
const byText = (a: Parameters<typeof textOf>[0], b: Parameters<typeof textOf>[0]): number =>
  textOf(a) < textOf(b) ? -1 : Number(textOf(a) > textOf(b));
