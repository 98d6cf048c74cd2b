/**
 * The one way to open the database: MikroORM over a bounded pool, entities given by the composition root. Reads no
 * environment and knows no domain.
 * @module
 */
import { defineConfig, type EntityClass, type EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import { type ClientBase, type Pool, TypeOverrides } from 'pg';
import { minute } from '../kernel/instant.ts';
import { returnDeadClients } from './dead-clients.ts';
import { keepPool } from './pools.ts';
import { preparingClient } from './prepared-statements.ts';
import { beginSession } from './sessions.ts';
import { cutSilentConnections } from './silent-connections.ts';

export type Orm = MikroORM;
export type AnyEntity = EntitySchema | EntityClass<object>;

export const defaultPoolTimeoutMs = 5_000;
/**
 * A new connection costs both sides a login, and PostgreSQL the plans of all statements anew. The driver's own ten
 * seconds would have each payment pay for that where one comes every now and then.
 */
const keptIdleMs = 5 * minute;
/** A network that forgets connections on which nothing is sent must not forget one that waits for a long statement. */
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

export type DatabaseOptions = {
  url: string;
  entities: readonly AnyEntity[];
  poolSize: number;
  /** How long a caller waits for a connection of the pool, or for a new one. */
  poolTimeoutMs?: number;
  /** How often it looks for silent connections; the default suits all but tests. */
  lookEveryMs?: number;
  applicationName: string;
};

export async function openDatabase({
  url,
  entities,
  poolSize,
  poolTimeoutMs = defaultPoolTimeoutMs,
  lookEveryMs,
  applicationName,
}: DatabaseOptions): Promise<Orm> {
  const orm = await MikroORM.init(
    defineConfig({
      clientUrl: url,
      entities: [...entities],
      pool: { min: 0, max: poolSize, idleTimeoutMillis: keptIdleMs },
      driverOptions: {
        types: typeParsers(),
        application_name: applicationName,
        Client: preparingClient(),
        connectionTimeoutMillis: poolTimeoutMs,
        ...keepAlive,
        onPoolCreated: (pool: Pool) => {
          returnDeadClients(pool);
          cutSilentConnections(pool, { askWithinMs: poolTimeoutMs, lookEveryMs });
        },
        onConnect: (client: ClientBase) => beginSession(client, poolTimeoutMs),
      },
      forceUtcTimezone: true,
    }),
  );
  const connection = orm.em.getConnection();
  keepPool(connection, (await connection.getNativeClient()) as Pool);
  return orm;
}

const int8 = 20;
const timestamptz = 1184;
const numeric = 1700;

function typeParsers(): TypeOverrides {
  const types = new TypeOverrides();
  types.setTypeParser(int8, (text) => {
    const value = Number(text);
    if (!Number.isSafeInteger(value)) throw new RangeError(`database value outside safe integers: ${text}`);
    return value;
  });
  types.setTypeParser(numeric, Number);
  types.setTypeParser(timestamptz, (text) => new Date(text));
  return types;
}
