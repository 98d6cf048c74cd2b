/** The real checks behind `GET /health`: one query, one call to Temporal, and the loops' heartbeats. @module */
import type { Checks } from '../http/health.ts';
import { beatingLoops } from '../platform/heartbeats.ts';
import type { Infrastructure } from './infrastructure.ts';

const checkTimeoutMs = 4_000;
/** A loop that found nothing to do still beats every 30 s. */
const freshSeconds = 75;

export const healthChecks =
  ({ database, temporal }: Infrastructure) =>
  async (): Promise<Checks> => {
    const [beating, isTemporalThere] = await Promise.all([
      within(beatingLoops(database, freshSeconds)),
      within(temporal.isReachable()),
    ]);
    const loop = (name: string) => (beating?.has(name) === true ? 'ok' : 'degraded');
    return {
      database: beating === undefined ? 'down' : 'ok',
      temporal: isTemporalThere === true ? 'ok' : 'down',
      relay: loop('relay'),
      webhookPoller: loop('webhookPoller'),
      sealer: loop('sealer'),
    };
  };

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
