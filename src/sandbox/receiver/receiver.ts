/**
 * Boxes that accept webhooks: every delivery is stored as it came, and answered 200 or with the failure that was
 * programmed for the box or for one event's name. It verifies no signature; its reader does.
 * @module
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Store } from '../store.ts';

export type Delivery = { receivedAt: string; headers: IncomingHttpHeaders; body: string; answered: number };
type DeliveryRow = { received_at: string; headers: string; body: string; answered: number };

const deliveriesPerBox = 1_000;
const anyEvent = '';

export function createReceiver(store: Store) {
  /** A failure for this very event comes before one for any. */
  function nextAnswer(box: string, event: string): number {
    const failure = store.one<{ event: string; status: number }>(
      'SELECT event, status FROM failures WHERE box = ? AND event IN (?, ?) AND remaining > 0 ORDER BY event DESC LIMIT 1',
      box,
      event,
      anyEvent,
    );
    if (failure === undefined) return 200;
    store.run('UPDATE failures SET remaining = remaining - 1 WHERE box = ? AND event = ?', box, failure.event);
    return failure.status;
  }

  return {
    take(box: string, headers: IncomingHttpHeaders, body: string): number {
      return store.inTransaction(() => {
        const event = headers['x-service-event'];
        const answered = nextAnswer(box, typeof event === 'string' ? event : anyEvent);
        store.run(
          'INSERT INTO deliveries (box, received_at, headers, body, answered) VALUES (?, ?, ?, ?, ?)',
          box,
          new Date().toISOString(),
          JSON.stringify(headers),
          body,
          answered,
        );
        store.run(
          `DELETE FROM deliveries WHERE box = ? AND seq <=
             (SELECT seq FROM deliveries WHERE box = ? ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
          box,
          box,
          deliveriesPerBox,
        );
        return answered;
      });
    },

    /** Replaces what was programmed for the same event (or for any); `count` 0 ends it. */
    program(
      box: string,
      { count, status, event = anyEvent }: { count: number; status: number; event?: string | undefined },
    ): void {
      store.run(
        `INSERT INTO failures (box, event, remaining, status) VALUES (?, ?, ?, ?)
         ON CONFLICT (box, event) DO UPDATE SET remaining = excluded.remaining, status = excluded.status`,
        box,
        event,
        count,
        status,
      );
    },

    /** Oldest first; the newest thousand. */
    list(box: string): Delivery[] {
      return store.all<DeliveryRow>('SELECT * FROM deliveries WHERE box = ? ORDER BY seq', box).map((row) => ({
        receivedAt: row.received_at,
        headers: JSON.parse(row.headers) as IncomingHttpHeaders,
        body: row.body,
        answered: row.answered,
      }));
    },
  };
}
export type Receiver = ReturnType<typeof createReceiver>;
