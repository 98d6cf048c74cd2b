/**
 * The one way to open the database: MikroORM over a bounded pool, entities given by the composition root. Reads no
 * environment and knows no domain.
 * @module
 */
import { defineConfig, type EntityClass, type EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import { type ClientBase, type Pool, TypeOverrides } from 'pg';
import { returnDeadClients } from './dead-clients.ts';
import { keepPool } from './pools.ts';
import { preparingClient } from './prepared-statements.ts';

export type Orm = MikroORM;
export type AnyEntity = EntitySchema | EntityClass<object>;

export const defaultPoolTimeoutMs = 5_000;
/** PostgreSQL ends a transaction that does nothing for so long, because it holds locks and stalls the feed of events. */
const idleInTransactionMs = 60_000;

export type DatabaseOptions = {
  url: string;
  entities: readonly AnyEntity[];
  poolSize: number;
  /** How long a caller waits for a connection of the pool, or for a new one. */
  poolTimeoutMs?: number;
  applicationName: string;
};

export async function openDatabase({
  url,
  entities,
  poolSize,
  poolTimeoutMs = defaultPoolTimeoutMs,
  applicationName,
}: DatabaseOptions): Promise<Orm> {
  const orm = await MikroORM.init(
    defineConfig({
      clientUrl: url,
      entities: [...entities],
      pool: { min: 0, max: poolSize },
      driverOptions: {
        types: typeParsers(),
        application_name: applicationName,
        Client: preparingClient(),
        connectionTimeoutMillis: poolTimeoutMs,
        onPoolCreated: returnDeadClients,
        // No parameter of the connection's start: a pooler in session mode refuses those that it does not know.
        onConnect: (client: ClientBase) =>
          client.query(`set idle_in_transaction_session_timeout = ${idleInTransactionMs}`),
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
