/**
 * Returns a client to the pool when its connection ended. A transaction on a dead connection cannot roll back, so its
 * holder never returns the client; without this module each one is lost to the pool.
 * @module
 */
import type { Pool, PoolClient } from 'pg';

export function returnDeadClients(pool: Pool): void {
  const held = new WeakSet<PoolClient>();
  pool.on('acquire', (client) => held.add(client));
  pool.on('release', (_error, client) => held.delete(client as PoolClient));
  pool.on('connect', (client) => {
    client.once('end', () => {
      if (!held.has(client)) return;
      const release = client.release;
      // The holder may still come: giving back what was given back throws.
      client.release = () => undefined;
      release(true);
    });
  });
}
