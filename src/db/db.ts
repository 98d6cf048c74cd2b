/**
 * Typed queries. `db(tx)` builds a query where it is used; `query` compiles it once, for reads that are frequent.
 * Inside a transaction both run in it; outside they take a connection of the pool, whose client prepares repeated
 * statements. Both select columns by name: rows are what PostgreSQL returns, under the names of the properties.
 * @module
 */
import {
  type Compilable,
  DummyDriver,
  type Expression,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import { columnNames } from './column-names.ts';
import { execute } from './execute.ts';
import type { Tables } from './tables.ts';
import type { Tx } from './tx.ts';

export type Db = Kysely<Tables>;

export function db(tx: Tx): Db {
  const plain = tx.getKysely<Tables>();
  const made = named.get(plain) ?? plain.withPlugin(columnNames);
  named.set(plain, made);
  return made;
}

/** By the connection pool or the transaction. */
const named = new WeakMap<Db, Db>();

/**
 * A parameter of a compiled query, by its name. A text may be compared with any column, because ids arrive as texts;
 * every other type must be the column's.
 */
export type Given<Params> = <Name extends keyof Params & string>(
  name: Name,
) => Expression<string extends Params[Name] ? never : Exclude<Params[Name], undefined>>;

export type Query<Params, Row> = {
  all(tx: Tx, params: Params): Promise<Row[]>;
  /** The first row, or null. */
  first(tx: Tx, params: Params): Promise<Row | null>;
};

/** A query that is compiled at its first use. `given('id')` is the place of the parameter `id`. */
export function query<Params extends object, Row>(
  build: (from: Db, given: Given<Params>) => Compilable<Row>,
): Query<Params, Row> {
  let template: Template<Params, Row> | undefined;
  const all = (tx: Tx, params: Params) => {
    template ??= compileQuery(build);
    return template(tx, params);
  };
  return { all, first: async (tx, params) => (await all(tx, params))[0] ?? null };
}

export type Template<Params, Row> = (tx: Tx, params: Params) => Promise<Row[]>;

/** The place of a parameter in a query, for a column of any type. */
export type Place = (name: string) => Expression<never>;

/** The rows have the type that the query was built with. */
export function compileQuery<Params extends object, Row>(
  build: (from: Db, place: Place) => Compilable<Row>,
): Template<Params, Row> {
  const { sql: text, parameters } = build(compiler, (name) => sql<never>`${new Parameter(name)}`).compile();
  const values = (params: Params) => {
    const byName = new Map<string, unknown>(Object.entries(params));
    return parameters.map((value) => (value instanceof Parameter ? byName.get(value.name) : value));
  };
  return async (tx, params) => (await execute<Row>(tx, text, values(params))).rows;
}

class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

const compiler: Db = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (of) => new PostgresIntrospector(of),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
  plugins: [columnNames],
});
