/**
 * The tables that typed queries know. Each entity file adds its tables to `Tables`, with the columns that the entity
 * declares, so a column is declared once.
 * @module
 */
import type { EntitySchemaWithMeta } from '@mikro-orm/core';
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import type { Selectable } from 'kysely';

/** The columns of an entity's table, under the names of the entity's properties. */
export type TableOf<Schema extends EntitySchemaWithMeta> = InferKyselyTable<
  Schema,
  { columnNamingStrategy: 'property' }
>;

/** Every column of an entity, to select a whole row. */
export const columnsOf = <Schema extends EntitySchemaWithMeta>(schema: Schema): (keyof TableOf<Schema> & string)[] =>
  Object.keys(schema.properties) as (keyof TableOf<Schema> & string)[];

/** A row of a table, as a query returns it. */
export type RowOf<Table extends keyof Tables> = Selectable<Tables[Table]>;

/** Table name to columns; extended by declaration merging in the entity files. */
// biome-ignore lint/suspicious/noEmptyInterface: the entity files declare its members.
export interface Tables {}
