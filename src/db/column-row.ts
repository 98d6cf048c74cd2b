/**
 * Rows under the names of their columns, as SQL functions return them, also within JSON (`to_jsonb`): columns get the
 * names of their properties, and each value is checked. The types of an entity's columns come from the entity.
 * @module
 */
import { type EntitySchemaWithMeta, Type, types } from '@mikro-orm/core';
import type { Selectable } from 'kysely';
import * as z from 'zod';
import { columnNameOf } from './column-names.ts';
import type { TableOf } from './tables.ts';

/** An instant, as JSON has it. */
export const jsonInstant = z
  .string()
  .transform((text) => new Date(text))
  .pipe(z.date());

/** A row by the names of its properties. Columns that `shape` does not name are left out. */
export function columnRow<Shape extends z.ZodRawShape>(shape: Shape): z.ZodType<z.output<z.ZodObject<Shape>>> {
  const names = Object.keys(shape).map((property) => [property, columnNameOf(property)] as const);
  const columns = z.object(Object.fromEntries(names.map(([property, column]) => [column, shape[property]])));
  return columns.transform((row) => renamed(names, row)) as never;
}

function renamed(names: readonly (readonly [string, string])[], row: Readonly<Record<string, unknown>>) {
  const result: Record<string, unknown> = {};
  for (const [property, column] of names) result[property] = row[column];
  return result;
}

type JsonColumns<Schema extends EntitySchemaWithMeta> = {
  [Property in keyof Selectable<TableOf<Schema>>]: z.ZodType<Selectable<TableOf<Schema>>[Property]>;
};

/**
 * The shape of an entity's row within JSON, or of some of its columns. A type that the entity gives to a text or a number
 * is not checked.
 */
export function jsonColumns<Schema extends EntitySchemaWithMeta, Property extends keyof JsonColumns<Schema>>(
  schema: Schema,
  properties?: readonly Property[],
): Pick<JsonColumns<Schema>, Property> {
  const columns = Object.entries<Column>(schema.meta.properties).map(([property, column]) => {
    const value = jsonValues[runtimeTypeOf(column) ?? ''];
    if (value === undefined) throw new Error(`${schema.tableName}.${property} has a type that JSON rows do not know`);
    return [property, column.nullable === true ? value.nullable() : value] as const;
  });
  const wanted: readonly unknown[] | undefined = properties;
  return Object.fromEntries(columns.filter(([property]) => wanted?.includes(property) ?? true)) as never;
}

/** Of columns that may be null: a row may be without them. */
export const nullWhereAbsent = <Shape extends z.ZodRawShape>(shape: Shape): Shape =>
  Object.fromEntries(
    Object.entries(shape).map(([property, value]) => [property, (value as z.ZodType).default(null)]),
  ) as never;

type Column = { readonly type: unknown; readonly runtimeType?: string; readonly nullable?: boolean };

/** MikroORM adds `runtimeType` when it opens the database; before that, the type is a class or an instance of it. */
function runtimeTypeOf({ type, runtimeType }: Column): string | undefined {
  if (runtimeType !== undefined) return runtimeType;
  if (type instanceof Type) return type.runtimeType;
  const known = Object.values(types).find((one) => one === type);
  return known === undefined ? undefined : Type.getType(known).runtimeType;
}

const jsonValues: Readonly<Record<string, z.ZodType>> = {
  string: z.string(),
  number: z.number(),
  boolean: z.boolean(),
  Date: jsonInstant,
  any: z.unknown(),
  'string[]': z.array(z.string()),
};
