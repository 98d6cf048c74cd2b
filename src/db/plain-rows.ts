/**
 * Rows of an entity as plain objects, by one statement over the fields that are wanted: for reads, which need neither
 * identity map nor change tracking, and would pay more for them than for the query. Nothing read so can be saved.
 * @module
 */
import type { EntityClass, EntityProperty } from '@mikro-orm/core';
import { defaultPageSize, maximumPageSize, type PageQuery } from '../kernel/page.ts';
import { type Head, keptRows } from './kept-rows.ts';
import { poolOf } from './pools.ts';
import { rows, type Tx } from './tx.ts';

export type Wanted<Row, Field extends keyof Row & string> = {
  readonly entity: EntityClass<Row & object>;
  readonly fields: readonly Field[];
  /** Further columns in SQL, each with its name; the entity's table goes by its own. */
  readonly also?: string;
  /** In SQL, a text that changes whenever anything of these does: the newest page is then read from memory where it can be. */
  readonly version?: string;
};

export type WantedPage<Row, Field extends keyof Row & string, Also, Shown> = Wanted<Row, Field> & {
  /** What the reader makes of a row. It is worked out once for a row that is shown again, so it depends on nothing else. */
  readonly form: (row: Pick<Row, Field> & Also) => Shown;
};

/** Changes with every change of the row itself. */
export const rowVersion = 'xmin::text';

/** SQL with a `?` for each value; undefined when nothing is asked. */
export type Condition = readonly [text: string, ...values: unknown[]] | undefined;

export async function plainRow<Row, Field extends keyof Row & string, Also = unknown>(
  tx: Tx,
  wanted: Wanted<Row, Field>,
  ...conditions: Condition[]
): Promise<(Pick<Row, Field> & Also) | null> {
  const { text, values } = where(conditions);
  const [row] = await rows<Pick<Row, Field> & Also>(tx, `${selectOf(tx, wanted)} ${text}`, values);
  return row ?? null;
}

/** With every field, as the ORM would find it. With a lock it stays as it is until the end of the transaction. */
export async function wholeRow<Row extends object>(
  tx: Tx,
  entity: EntityClass<Row>,
  condition: NonNullable<Condition>,
  lock: '' | 'for share' = '',
): Promise<Readonly<Row> | null> {
  const { text, values } = where([condition]);
  const [row] = await rows<Row>(tx, `${selectOf(tx, wholeOf(tx, entity))} ${text} ${lock}`.trimEnd(), values);
  return row ?? null;
}

/** Up to `limit + 1` rows, newest first, as `form` makes them; they may be shared with other readers. */
export async function plainPage<Row, Field extends keyof Row & string, Also, Shown>(
  tx: Tx,
  wanted: WantedPage<Row, Field, Also, Shown>,
  { limit, after }: PageQuery,
  ...conditions: Condition[]
): Promise<Readonly<Shown>[]> {
  const onwards: Condition =
    after === undefined ? undefined : ['(created_at, id) < (?::timestamptz, ?)', after.createdAt, after.id];
  const { text, values } = where([...conditions, onwards]);
  // A plan for any length suits none, so PostgreSQL would make one anew each time; the usual lengths get their own.
  const isUsual = limit === defaultPageSize || limit === maximumPageSize;
  const length = isUsual ? String(limit + 1) : `$${values.push(limit + 1)}`;
  const page = `${text} order by created_at desc, id desc limit ${length}`;
  const read = () => rows<Pick<Row, Field> & Also & Head>(tx, `${selectOf(tx, versioned(wanted))} ${page}`, values);
  const { form, version } = wanted;
  // What a transaction has changed is nobody else's yet; and pages further back are rarely asked for twice.
  if (version === undefined || after !== undefined || tx.isInTransaction()) return (await read()).map(form);
  const heads = () => rows<Head>(tx, `${headOf(tx, wanted)} ${page}`, values);
  return keptRows(poolOf(tx), wanted, { heads, read, form });
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

const versions = new WeakMap<object, object>();

function versioned<Row, Field extends keyof Row & string>(wanted: Wanted<Row, Field>): Wanted<Row, Field> {
  const known = versions.get(wanted) as Wanted<Row, Field> | undefined;
  if (known !== undefined || wanted.version === undefined) return known ?? wanted;
  const also = [...(wanted.also === undefined ? [] : [wanted.also]), `${wanted.version} as "rowVersion"`].join(', ');
  const made = { ...wanted, also };
  versions.set(wanted, made);
  return made;
}

const wholes = new WeakMap<object, Selected>();

function wholeOf(tx: Tx, entity: EntityClass<object>): Selected {
  const known = wholes.get(entity);
  if (known !== undefined) return known;
  const { props } = tx.getMetadata().get(entity);
  const selected = { entity, fields: props.map(({ name }) => name) };
  wholes.set(entity, selected);
  return selected;
}

/** As `Wanted`, where nobody asks which row it is of. */
type Selected = { readonly entity: EntityClass<object>; readonly fields: readonly string[]; readonly also?: string };

const selects = new WeakMap<object, string>();

function selectOf(tx: Tx, wanted: Selected): string {
  const known = selects.get(wanted);
  if (known !== undefined) return known;
  const { tableName, properties } = tx.getMetadata().get(wanted.entity);
  const columns = wanted.fields.map((field) => columnOf((properties as Record<string, EntityProperty>)[field], field));
  const also = wanted.also === undefined ? [] : [wanted.also];
  const select = `select ${[...columns, ...also].join(', ')} from ${tableName}`;
  selects.set(wanted, select);
  return select;
}

const headOf = <Row, Field extends keyof Row & string>(tx: Tx, { entity, version }: Wanted<Row, Field>): string =>
  `select id, ${version} as "rowVersion" from ${tx.getMetadata().get(entity).tableName}`;

/** As the ORM would give it: a number where the column is declared as one. */
function columnOf(property: EntityProperty | undefined, field: string): string {
  const [column] = property?.fieldNames ?? [];
  if (property === undefined || column === undefined) throw new Error(`no column for ${field}`);
  const isNumeric = property.runtimeType === 'number' && /^(numeric|decimal)/.test(property.columnTypes[0] ?? '');
  return `${column}${isNumeric ? '::float8' : ''} as "${field}"`;
}
