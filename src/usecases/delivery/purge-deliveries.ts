/** Removes what is older than it is kept, and secrets that sign no more, in bounded batches. A call does bounded work; the next one goes on. @module */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import { hoursKeptMs } from '../../domains/delivery/webhooks/delivery.hours.service.ts';
import {
  purgeOldDeliveries,
  purgeOldEvents,
  purgeOldHours,
  purgeOldTestEvents,
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

/** Returns how many rows went. */
export const purgeDeliveries =
  ({ database, purgedAtOnce = 2_000, batchesOfPass = 10 }: Deps) =>
  async (kept: KeptDays, now: Date): Promise<Purged> => {
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
    const deliveries = await inBatches(purgeOldDeliveries, later(now, -kept.deliveries * day));
    const tests = await inBatches(purgeOldTestEvents, eventsBefore);
    await inBatches(purgeOldHours, later(now, -hoursKeptMs));
    const events = await inBatches(purgeOldEvents, eventsBefore);
    return { deliveries, tests, events, hasMore };
  };
