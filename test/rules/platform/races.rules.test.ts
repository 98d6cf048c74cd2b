/**
 * Goal: whatever the order in which calls, writes and ends overtake each other, group commits, shared and kept calls and
 * places to wait keep what they promise. Method: fast-check's scheduler chooses the order; a failure names its seed and
 * path, with which the race is replayed.
 * @module
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CallerGone, groupCommit } from '../../../src/db/group-commit.ts';
import { keptCall } from '../../../src/platform/kept-call.ts';
import { sharedCall } from '../../../src/platform/shared-call.ts';
import { waitSlots } from '../../../src/platform/wait-slots.ts';
import { seed } from '../../support/seed.ts';

const runs = { seed, numRuns: 300 };
const failing = (code: string): Error => Object.assign(new Error(code), { code });

const faults = ['none', 'none', 'none', '40001', '55P03', '57P01', '23514', 'answer lost'] as const;

/** An item, whether its caller leaves, and the group whose locks it needs. */
const item = fc.record({ group: fc.constantFrom('a', 'b', 'c'), leaves: fc.boolean() });

type Effect = { readonly id: number };

test('group commit: an item takes effect once where it was answered, at most once where it failed, and never twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(item, { minLength: 1, maxLength: 12 }),
      fc.infiniteStream(fc.constantFrom(...faults)),
      fc.integer({ min: 1, max: 4 }),
      async (scheduler, items, drawn, atOnce) => {
        const written: Effect[] = [];
        let underWay = 0;
        let most = 0;
        /** As a statement that recognises what it wrote before. */
        const write = async (batch: readonly { id: number; group: string }[]): Promise<number[]> => {
          most = Math.max(most, ++underWay);
          expect(batch.length).toBeLessThanOrEqual(atOnce);
          const fault = drawn.next().value;
          try {
            await scheduler.schedule(Promise.resolve(), `write ${batch.map(({ id }) => id).join(' ')}: ${fault}`);
            if (fault !== 'none' && fault !== 'answer lost') throw failing(fault);
            for (const { id } of batch) if (!written.some((one) => one.id === id)) written.push({ id });
            if (fault === 'answer lost') throw failing('ECONNRESET');
            return batch.map(({ id }) => id * 10);
          } finally {
            underWay -= 1;
          }
        };
        const submit = groupCommit(write, { atOnce, groupOf: ({ group }) => group, mostLanes: 2 });
        const asked = items.map(async ({ group, leaves }, id) => {
          await scheduler.schedule(Promise.resolve(), `ask ${id}`);
          const caller = new AbortController();
          const answer = submit({ id, group }, caller.signal).then(
            (value) => ({ id, value }),
            (error: unknown) => ({ id, error }),
          );
          if (leaves) void scheduler.schedule(Promise.resolve(), `leave ${id}`).then(() => caller.abort());
          return answer;
        });
        const answers = await scheduler.waitFor(Promise.all(asked));
        for (const answer of answers) {
          const effects = written.filter(({ id }) => id === answer.id).length;
          if ('value' in answer) expect([answer.id, answer.value, effects]).toEqual([answer.id, answer.id * 10, 1]);
          else if (answer.error instanceof CallerGone) expect([answer.id, effects]).toEqual([answer.id, 0]);
          else expect(effects).toBeLessThanOrEqual(1);
        }
        expect(most).toBeLessThanOrEqual(3); // The shared lane and two of groups.
      },
    ),
    runs,
  );
});

test('shared call: each is answered by a call that began after it asked, and never two are under way', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
      async (scheduler, failures) => {
        let time = 0;
        let underWay = 0;
        const drawn = [...failures];
        const ask = sharedCall(async () => {
          const began = ++time;
          expect(++underWay).toBe(1);
          try {
            await scheduler.schedule(Promise.resolve(), `call ${began}`);
            if (drawn.pop() === true) throw new Error(String(began));
            return began;
          } finally {
            underWay -= 1;
          }
        });
        const asked = failures.map(async (_, n) => {
          await scheduler.schedule(Promise.resolve(), `ask ${n}`);
          const at = ++time;
          const began = await ask().catch((error: Error) => Number(error.message));
          expect(began).toBeGreaterThan(at);
        });
        await scheduler.waitFor(Promise.all(asked));
      },
    ),
    runs,
  );
});

test('kept call: an answer is as old as promised at most, a failure is not kept, and never two are under way', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.record({ fails: fc.boolean(), laterMs: fc.integer({ min: 0, max: 80 }) }), {
        minLength: 1,
        maxLength: 12,
      }),
      async (scheduler, calls) => {
        const keptMs = 100;
        let nowMs = 0;
        let turn = 0;
        let underWay = 0;
        let most = 0;
        const drawn = calls.map(({ fails }) => fails);
        const ask = keptCall(
          async () => {
            most = Math.max(most, ++underWay);
            await scheduler.schedule(Promise.resolve(), 'call');
            underWay -= 1;
            const ended = { atMs: nowMs, turn: ++turn };
            if (drawn.pop() === true) throw new Error('away', { cause: ended });
            return ended;
          },
          keptMs,
          () => nowMs,
        );
        const asked = calls.map(async ({ laterMs }, n) => {
          await scheduler.schedule(Promise.resolve(), `ask ${n}`);
          nowMs += laterMs;
          const at = { ms: nowMs, turn: ++turn };
          const outcome = await ask().then(
            (ended) => ({ ended, failed: false }),
            (error: Error) => ({ ended: error.cause as { atMs: number; turn: number }, failed: true }),
          );
          if (outcome.failed) expect(outcome.ended.turn).toBeGreaterThan(at.turn);
          else expect(outcome.ended.atMs + keptMs).toBeGreaterThan(at.ms);
        });
        await scheduler.waitFor(Promise.all(asked));
        expect(most).toBe(1);
      },
    ),
    runs,
  );
});

test('places to wait: no limit is passed, and every place comes back', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.record({ ownerId: fc.constantFrom('o1', 'o2'), caller: fc.constantFrom('k1', 'k2') }), {
        minLength: 1,
        maxLength: 20,
      }),
      async (scheduler, waiters) => {
        const limits = { most: 5, mostOfOwner: 3, mostOfCaller: 2 };
        const take = waitSlots(limits);
        const waiting: { ownerId: string; callerId: string }[] = [];
        const waits = waiters.map(async ({ ownerId, caller }, n) => {
          await scheduler.schedule(Promise.resolve(), `ask ${n}`);
          const waiter = { ownerId, callerId: `${ownerId} ${caller}` };
          const give = take(waiter);
          const has = (of: (one: (typeof waiting)[number]) => boolean) => waiting.filter(of).length;
          const isFull =
            waiting.length >= limits.most ||
            has((one) => one.ownerId === ownerId) >= limits.mostOfOwner ||
            has((one) => one.callerId === waiter.callerId) >= limits.mostOfCaller;
          expect(give === undefined).toBe(isFull);
          if (give === undefined) return;
          waiting.push(waiter);
          await scheduler.schedule(Promise.resolve(), `end ${n}`);
          waiting.splice(waiting.indexOf(waiter), 1);
          give();
        });
        await scheduler.waitFor(Promise.all(waits));
        const all = Array.from({ length: limits.most }, (_, n) => take({ ownerId: `o${n}`, callerId: `k${n}` }));
        expect(all.every((give) => give !== undefined)).toBe(true);
      },
    ),
    runs,
  );
});
