/** Which pool an entity manager's connections come from, for statements that need no more than a connection. @module */
import type { Connection, EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';

const pools = new WeakMap<Connection, Pool>();

export const keepPool = (connection: Connection, pool: Pool): void => void pools.set(connection, pool);

export function poolOf(em: EntityManager): Pool {
  const pool = pools.get(em.getConnection());
  if (pool === undefined) throw new Error('this database was not opened by openDatabase');
  return pool;
}
