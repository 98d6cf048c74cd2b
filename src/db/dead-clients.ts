/**
 * Returns a client whose connection ended to its pool: a transaction on a dead connection cannot
 * roll back, and its holder then never returns the client. Without this each one is a place of the pool lost for ever.
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
