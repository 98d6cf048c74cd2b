/** Records in the database, for the health check of other processes, which loops of this process work. @module */
import type { Database } from '../db/database.ts';
import { second } from '../kernel/instant.ts';
import { beat } from '../platform/heartbeats.ts';
import type { Logger } from '../platform/log.ts';
import { type Loop, startLoop } from '../platform/loop.ts';

const freshMs = 60 * second;

/** `loops`: each by the name of its heartbeat. A loop whose latest pass failed, or is older than a minute, has none. */
export const startHeartbeats = (
  { database, log }: { readonly database: Database; readonly log: Logger },
  loops: Readonly<Record<string, Loop>>,
): Loop =>
  startLoop({
    name: 'heartbeats',
    everyMs: 2 * second,
    log,
    pass: async () => {
      for (const [name, loop] of Object.entries(loops)) if (isWorking(loop)) await beat(database, name);
    },
  });

/** Real time. */
function isWorking(loop: Loop): boolean {
  const { lastSuccessAt, failing } = loop.state();
  return !failing && lastSuccessAt !== undefined && Date.now() - lastSuccessAt < freshMs;
}
