/** The real checks behind `GET /health`: one query, one call to Temporal, and the loops' heartbeats. @module */
import * as z from 'zod';
import type { Database } from '../db/database.ts';
import { oneRowOf } from '../db/statement.ts';
import { beatingLoops } from '../platform/heartbeats.ts';
import type { Checks } from './health.ts';

const checkTimeoutMs = 4_000;
/** A loop that found nothing to do still beats every 30 s. */
const freshSeconds = 75;

type Deps = {
  readonly database: Database;
  readonly temporal: { isReachable(): Promise<boolean> };
  readonly sanctions: { state(): Promise<'ok' | 'degraded' | 'down'> };
};

export const healthChecks =
  ({ database, temporal, sanctions }: Deps) =>
  async (): Promise<Checks> => {
    const [beating, isTemporalThere, isOwner, list] = await Promise.all([
      within(beatingLoops(database, freshSeconds)),
      within(temporal.isReachable()),
      within(isOwnerOfTables(database)),
      within(sanctions.state()),
    ]);
    const loop = (name: string) => (beating?.has(name) === true ? 'ok' : 'degraded');
    return {
      database: beating === undefined ? 'down' : 'ok',
      temporal: isTemporalThere === true ? 'ok' : 'down',
      relay: loop('relay'),
      webhookPoller: loop('webhookPoller'),
      sealer: loop('sealer'),
      sanctions: list ?? 'degraded',
      databaseRoles: isOwner === undefined ? 'down' : isOwner ? 'degraded: one role' : 'ok',
    };
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
