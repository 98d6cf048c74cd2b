/** Removes what is older than it is kept, and secrets that sign no more, in bounded batches. A call does bounded work; the next one goes on. @module */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import { hoursKeptMs } from '../../domains/delivery/webhooks/delivery.hours.service.ts';
import {
  purgeOldDeliveries,
  purgeOldEvents,
  purgeOldHours,
  purgeOldTestEvents,
  subscriptionsToPurge,
  wipeEndedSecrets,
} from '../../domains/delivery/webhooks/delivery.purge.service.ts';
import { day, later } from '../../kernel/instant.ts';

export type KeptDays = { readonly deliveries: number; readonly events: number };

export type Purged = {
  readonly deliveries: number;
  readonly tests: number;
  readonly events: number;
  /** The pass ended before what is old did: another one finds more now. */
  readonly hasMore: boolean;
};

type Deps = { readonly database: Database; readonly purgedAtOnce?: number; readonly batchesOfPass?: number };

/**
 * Returns how many rows went. Remembers for a day which old deliveries may not go yet, because those of a subscription
 * that is paused for long may be many: they are not read again and again.
 */
export const purgeDeliveries = ({ database, purgedAtOnce = 2_000, batchesOfPass = 10 }: Deps) => {
  const passed = new Map<string, { createdAt: string; id: string }>();
  let forgottenAt = new Date(0);

  /** Each subscription has the same share of a batch, so that one with many old deliveries does not keep those of others. */
  const inShares = async (before: Date, now: Date): Promise<{ purged: number; hasMore: boolean }> => {
    if (now >= later(forgottenAt, day)) {
      passed.clear();
      forgottenAt = now;
    }
    const waiting = await subscriptionsToPurge(database.read(), before, passed);
    let purged = 0;
    for (let batch = 0; batch < batchesOfPass && waiting.length > 0; batch++) {
      const webhookIds = waiting.splice(0, purgedAtOnce);
      const most = Math.floor(purgedAtOnce / webhookIds.length);
      const parts = await database.write((tx) => purgeOldDeliveries(tx, webhookIds, { before, most, passed }));
      for (const part of parts) {
        purged += part.purged;
        if (part.passed === null) continue; // What is locked now is looked at again by the next pass.
        passed.set(part.webhookId, part.passed);
        if (part.looked === most) waiting.push(part.webhookId);
      }
    }
    return { purged, hasMore: waiting.length > 0 };
  };

  return async (kept: KeptDays, now: Date): Promise<Purged> => {
    let hasMore = false;
    const inBatches = async (purge: (tx: Tx, before: Date, most: number) => Promise<number>, before: Date) => {
      let purged = 0;
      for (let batch = 0; batch < batchesOfPass; batch++) {
        const some = await database.write((tx) => purge(tx, before, purgedAtOnce));
        purged += some;
        if (some < purgedAtOnce) return purged;
      }
      hasMore = true;
      return purged;
    };
    await database.write(wipeEndedSecrets);
    const eventsBefore = later(now, -kept.events * day);
    const deliveries = await inShares(later(now, -kept.deliveries * day), now);
    const tests = await inBatches(purgeOldTestEvents, eventsBefore);
    await inBatches(purgeOldHours, later(now, -hoursKeptMs));
    const events = await inBatches(purgeOldEvents, eventsBefore);
    return { deliveries: deliveries.purged, tests, events, hasMore: hasMore || deliveries.hasMore };
  };
};
