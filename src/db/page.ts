/**
 * The one way to read a page of a list. A list is a typed query with its filters and its order; each combination of
 * filters is compiled once. The rows of one instant are ordered by their id, so none is lost or repeated.
 * @module
 */
import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { type Cursor, defaultPageSize, maximumPageSize, type Page, type PageQuery, pageOf } from '../kernel/page.ts';
import { compileQuery, type Db, type Given, type Place, type Template } from './db.ts';
import type { Tx } from './tx.ts';

/** Descending by `columns`. A cursor holds the values of the last row of a page. */
export type Order<Row> = {
  /** As references of the query: `intents.createdAt`. */
  readonly columns: readonly string[];
  readonly cursorOf: (row: Row) => Cursor;
  /** The columns' values that the cursor stands for. */
  readonly valuesOf: (cursor: Cursor) => readonly unknown[];
  /** The types of these values. */
  readonly types: readonly ValueType[];
  /** Where comparing the columns with these values is not the way: `last(0)` is the place of the first value. */
  readonly isBehind?: (
    columns: readonly Expression<unknown>[],
    last: (index: number) => Expression<never>,
  ) => Expression<SqlBool>;
};

type ValueType = 'timestamptz' | 'text' | 'bigint';

export const newestFirst = (table: string): Order<{ readonly createdAt: Date; readonly id: string }> => ({
  columns: [`${table}.createdAt`, `${table}.id`],
  cursorOf: ({ createdAt, id }) => ({ createdAt: createdAt.toISOString(), id }),
  valuesOf: ({ createdAt, id }) => [createdAt, id],
  types: ['timestamptz', 'text'],
});

export type List<Filter, Row> = {
  readonly order: Order<Row>;
  readonly templates: Map<string, Template<Filter & Paging, Row>>;
  readonly compile: (shape: Shape) => Template<Filter & Paging, Row>;
};

/** What `page` adds to the filter. */
type Paging = { readonly limit?: number };
type Shape = { readonly names: ReadonlySet<string>; readonly isOnward: boolean; readonly limit: number | undefined };

/** `given(name)` is the place of a filter's value, `given.has(name)` says whether the request has one. */
export interface Filters<Filter> extends Given<Filter> {
  readonly has: (name: keyof Filter & string) => boolean;
}

/** Ends a query at a page. `page` does it for the whole list; a list of several sources may do it for each of them. */
export type Cut = <DB, TB extends keyof DB, Row>(
  wanted: SelectQueryBuilder<DB, TB, Row>,
  order: Pick<Order<never>, 'columns' | 'types' | 'isBehind'>,
) => SelectQueryBuilder<DB, TB, Row>;

export function list<Filter extends object, DB, TB extends keyof DB, Row>(
  build: (from: Db, given: Filters<Filter>, cut: Cut) => SelectQueryBuilder<DB, TB, Row>,
  order: Order<Row>,
): List<Filter, Row> {
  const compile = (shape: Shape) =>
    compileQuery<Filter & Paging, Row>((from, place) => {
      const cut = cutBy(shape, place);
      return cut(build(from, Object.assign(place, { has: (name: string) => shape.names.has(name) }), cut), order);
    });
  return { order, templates: new Map(), compile };
}

const cutBy =
  ({ isOnward, limit }: Shape, place: Place): Cut =>
  (wanted, { columns, types, isBehind = isBefore }) => {
    const named = columns.map((column) => sql.ref(column));
    // PostgreSQL plans a comparison with a parameter anew for each value, which takes longer than to read the page. It
    // does not look at the value of a subquery, so that one plan serves every cursor.
    const last = (index: number) => sql<never>`(select ${place(`after${index}`)}::${sql.raw(types[index] ?? 'text')})`;
    const onward = isOnward ? wanted.where(isBehind(named, last)) : wanted;
    const ordered = named.reduce((query, column) => query.orderBy(column, 'desc'), onward);
    return ordered.limit(limit === undefined ? place('limit') : sql.lit(limit));
  };

const isBefore: NonNullable<Order<never>['isBehind']> = (columns, last) =>
  sql<boolean>`(${sql.join([...columns])}) < (${sql.join(columns.map((_, index) => last(index)))})`;

export async function page<Filter extends object, Row>(
  tx: Tx,
  { order, templates, compile }: List<Filter, Row>,
  filter: Filter,
  { limit, after }: PageQuery,
): Promise<Page<Row>> {
  const names = Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  // The usual lengths are literals: PostgreSQL plans a page of an unknown length anew each time.
  const usual = limit === defaultPageSize || limit === maximumPageSize ? limit + 1 : undefined;
  const key = `${names.join()} ${after !== undefined} ${usual}`;
  const template =
    templates.get(key) ?? compile({ names: new Set(names), isOnward: after !== undefined, limit: usual });
  templates.set(key, template);
  const last = after === undefined ? [] : order.valuesOf(after).map((value, index) => [`after${index}`, value]);
  const rows = await template(tx, { ...filter, ...Object.fromEntries(last), limit: limit + 1 });
  return pageOf(rows, limit, order.cursorOf);
}
