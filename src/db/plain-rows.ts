/**
 * Rows of an entity as plain objects, by one statement over the entity's own columns: for reads, which need neither
 * identity map nor change tracking, and would pay more for them than for the query. Nothing read so can be saved.
 * @module
 */
import type { EntityClass, EntityProperty } from '@mikro-orm/core';
import type { PageQuery } from '../kernel/page.ts';
import { rows, type Tx } from './tx.ts';

/** SQL with a `?` for each value; undefined when nothing is asked. */
export type Condition = readonly [text: string, ...values: unknown[]] | undefined;

export async function plainRow<Row extends object>(
  tx: Tx,
  entity: EntityClass<Row>,
  ...conditions: Condition[]
): Promise<Readonly<Row> | null> {
  const { text, values } = where(conditions);
  const [row] = await rows<Row>(tx, `${selectOf(tx, entity)} ${text}`, values);
  return row ?? null;
}

/** Up to `limit + 1` rows, newest first. */
export function plainPage<Row extends object>(
  tx: Tx,
  entity: EntityClass<Row>,
  { limit, after }: PageQuery,
  ...conditions: Condition[]
): Promise<Readonly<Row>[]> {
  const onwards: Condition =
    after === undefined ? undefined : ['(created_at, id) < (?::timestamptz, ?)', after.createdAt, after.id];
  const { text, values } = where([...conditions, onwards]);
  return rows<Row>(
    tx,
    `${selectOf(tx, entity)} ${text} order by created_at desc, id desc limit $${values.length + 1}`,
    [...values, limit + 1],
  );
}

function where(conditions: readonly Condition[]): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const texts = conditions.filter(isAsked).map(([text, ...given]) => {
    const numbered = text.replace(/\?/g, () => `$${values.push(given.shift())}`);
    return `(${numbered})`;
  });
  return { text: texts.length === 0 ? '' : `where ${texts.join(' and ')}`, values };
}

const isAsked = (condition: Condition): condition is NonNullable<Condition> => condition !== undefined;

const selects = new WeakMap<object, string>();

function selectOf(tx: Tx, entity: EntityClass<object>): string {
  const known = selects.get(entity);
  if (known !== undefined) return known;
  const { tableName, props } = tx.getMetadata().get(entity);
  const select = `select ${props.flatMap(columnOf).join(', ')} from ${tableName}`;
  selects.set(entity, select);
  return select;
}

/** As the ORM would give it: exact numbers only where the column is declared as a number. */
const columnOf = ({ name, fieldNames, runtimeType, columnTypes }: EntityProperty): string[] =>
  (fieldNames ?? []).map((column) => {
    const isNumeric = runtimeType === 'number' && /^(numeric|decimal)/.test(columnTypes[0] ?? '');
    return `${column}${isNumeric ? '::float8' : ''} as "${name}"`;
  });
