/**
 * The real checks behind `GET /health`: the loops' heartbeats and the lag of the feed from PostgreSQL, one call to
 * Temporal, and the sanctions list. Anybody may ask without a key or a limit, so one examination serves all who ask within
 * a second.
 * @module
 */
import * as z from 'zod';
import type { Database } from '../db/database.ts';
import { oneRowOf } from '../db/statement.ts';
import { feedLagSeconds } from '../events/feed-lag.ts';
import { beatingLoops } from '../platform/heartbeats.ts';
import { keptCall } from '../platform/kept-call.ts';
import type { Examined } from './health.ts';

const checkTimeoutMs = 4_000;
/** How old an answer may be, beside the time that its examination takes. */
const keptMs = 1_000;
/** A loop that works beats at least every 10 s, also when it finds nothing to do. */
const freshSeconds = 20;
/** The transactions of Bursar end within milliseconds. */
const longLagSeconds = 10;

type Deps = {
  readonly database: Database;
  readonly temporal: { isReachable(): Promise<boolean> };
  readonly sanctions: { state(): Promise<'ok' | 'degraded' | 'down'> };
};

export const healthChecks = (deps: Deps): (() => Promise<Examined>) => keptCall(() => examined(deps), keptMs);

async function examined({ database, temporal, sanctions }: Deps): Promise<Examined> {
  const at = new Date();
  const [beating, isTemporalThere, isOwner, list, lag] = await Promise.all([
    within(beatingLoops(database, freshSeconds)),
    within(temporal.isReachable()),
    within(isOwnerOfTables(database)),
    within(sanctions.state()),
    within(feedLagSeconds(database)),
  ]);
  const loop = (name: string) => (beating?.has(name) === true ? ('ok' as const) : ('degraded' as const));
  const checks = {
    database: beating === undefined ? 'down' : 'ok',
    temporal: isTemporalThere === true ? 'ok' : 'down',
    relay: loop('relay'),
    webhookPoller: loop('webhookPoller'),
    sealer: loop('sealer'),
    eventFeed: stateOfFeed(lag),
    sanctions: list ?? 'degraded',
    databaseRoles: isOwner === undefined ? 'down' : isOwner ? 'degraded: one role' : 'ok',
  } as const;
  return { at, checks, eventFeedLagMs: lag === undefined ? null : Math.round(lag * 1_000) };
}

/** `lagSeconds` undefined: it cannot be read. */
export const stateOfFeed = (lagSeconds: number | undefined): 'ok' | 'degraded' | 'down' => {
  if (lagSeconds === undefined) return 'down';
  return lagSeconds > longLagSeconds ? 'degraded' : 'ok';
};

/** Whether this process could change or empty what only functions may write (docs/security.md). */
async function isOwnerOfTables(database: Database): Promise<boolean> {
  const { isOwner } = await oneRowOf(
    database.read(),
    z.object({ isOwner: z.boolean() }),
    `select pg_has_role(relowner, 'member') as "isOwner" from pg_class where oid = 'public.journals'::regclass`,
  );
  return isOwner;
}

/** Undefined when it fails or takes too long: for health both read alike. */
async function within<T>(work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), checkTimeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } catch (_failed) {
    return undefined; // The answer of a failed check is that it failed.
  } finally {
    clearTimeout(timer);
  }
}
