/** Values in the rows of a statement that TypeScript has a narrower type for than PostgreSQL. @module */
import * as z from 'zod';
import { type Id, type IdKind, idPrefixes } from '../kernel/ids.ts';
import type { Cents } from '../kernel/money.ts';

/** The rows of a statement that returns ids alone. */
export const idRow = z.object({ id: z.string() });

/** The row of a `count(*)`. */
export const countRow = z.object({ count: z.int() });

/** A record's id, by its prefix. */
export function idValue<Kind extends IdKind>(kind: Kind): z.ZodType<Id<Kind>> {
  const prefix = `${idPrefixes[kind]}_`;
  return z.custom<Id<Kind>>((value) => typeof value === 'string' && value.startsWith(prefix));
}

export const centsValue: z.ZodType<Cents> = z.custom<Cents>((value) => Number.isSafeInteger(value));
