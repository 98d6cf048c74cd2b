/**
 * What a test does after it killed the API: expires the reservations of the dead process, which would take a minute of
 * real time. Those that its successor makes meanwhile end later, and stay.
 * @module
 */
import type { Installation } from '../support/installation.ts';
import { eventually } from '../support/world.ts';

/** Waits for the last write of the dead process first. PostgreSQL may be away as well. */
export async function expireLeases(site: Installation, diedAt: Date): Promise<void> {
  const expired = async (): Promise<string> => {
    const open = await site.sql(
      `select 1 from pg_stat_activity where application_name = 'bursar-api' and state <> 'idle' and backend_start < $1`,
      [diedAt],
    );
    if (open.length > 0) return 'its last write is under way';
    await site.sql(
      `update idempotency set lease_until = now()
       where status is null and lease_until < $1::timestamptz + interval '60 seconds'`,
      [diedAt],
    );
    return 'done';
  };
  await eventually(
    () => expired().catch(String),
    (found) => found === 'done',
  );
}
