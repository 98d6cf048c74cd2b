/**
 * Gives every amount of a request its name in cents: a field that the contract declares as `euros()` is
 * `amountEuros` on the wire and `amountCents` for the handler. A name without `Euros` gets `Cents` appended
 * (`maxAmountPerTransaction` -> `maxAmountPerTransactionCents`). The contract itself keeps the wire names.
 * @module
 */
import * as z from 'zod';
import type { Cents } from '../kernel/money.ts';

/** A field that is in cents on the wire as well keeps its name. */
type CentsName<Key> = Key extends `${string}Cents`
  ? Key
  : Key extends `${infer Base}Euros`
    ? `${Base}Cents`
    : Key extends string
      ? `${Key}Cents`
      : Key;

type IsCents<T> = [NonNullable<T>] extends [never] ? false : [NonNullable<T>] extends [Cents] ? true : false;

/** What the handler gets for what a schema parses to: amounts under their names in cents, at every depth. */
export type WithCents<T> = T extends string | number | boolean | bigint | null | undefined | Date
  ? T
  : T extends readonly unknown[]
    ? { readonly [Index in keyof T]: WithCents<T[Index]> }
    : T extends object
      ? { [Key in keyof T as IsCents<T[Key]> extends true ? CentsName<Key> : Key]: WithCents<T[Key]> }
      : T;

/** A schema's parsed value under the names that handlers get. */
export type Received<Schema extends z.ZodType> = WithCents<z.output<Schema>>;

type Rename = (value: unknown) => unknown;

const amounts = new WeakSet<object>();

/** Marks the transformation of `euros()`. A schema's copies (`.meta()`, `.optional()`) keep its transformation. */
export function amountInCents<Transform extends object>(transform: Transform): Transform {
  amounts.add(transform);
  return transform;
}

const renames = new WeakMap<z.ZodType, Rename | undefined>();

/** The value that `schema` has parsed, with its amounts under their names in cents. */
export const withCents = (schema: z.ZodType, value: unknown): unknown => renameOf(schema)?.(value) ?? value;

/** Undefined where the schema contains no amount. */
function renameOf(schema: z.ZodType): Rename | undefined {
  if (!renames.has(schema)) renames.set(schema, renameMade(schema));
  return renames.get(schema);
}

function renameMade(schema: z.ZodType): Rename | undefined {
  if (schema instanceof z.ZodObject) return renameOfObject(schema.shape);
  if (schema instanceof z.ZodArray) {
    const inner = renameOf(schema.element as z.ZodType);
    return inner && ((value) => (Array.isArray(value) ? value.map(inner) : value));
  }
  if (schema instanceof z.ZodUnion) return renameOfUnion(schema.options as z.ZodType[]);
  if (schema instanceof z.ZodPipe) return renameOf(schema.in as z.ZodType);
  const wrapped = unwrapped(schema);
  return wrapped === schema ? undefined : renameOf(wrapped);
}

function renameOfObject(shape: Readonly<Record<string, z.ZodType>>): Rename | undefined {
  const fields = new Map<string, { readonly name: string; readonly rename: Rename | undefined }>();
  for (const [key, field] of Object.entries(shape)) {
    const rename = renameOf(field);
    if (isAmount(field)) fields.set(key, { name: centsName(key), rename: undefined });
    else if (rename !== undefined) fields.set(key, { name: key, rename });
  }
  if (fields.size === 0) return undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const { name = key, rename } = fields.get(key) ?? {};
        return [name, rename === undefined ? inner : rename(inner)];
      }),
    );
  };
}

/** The value says which option it is: the one that accepts its names is renamed by them. */
function renameOfUnion(options: readonly z.ZodType[]): Rename | undefined {
  const made = options.map(renameOf).filter((rename) => rename !== undefined);
  if (made.length === 0) return undefined;
  return (value) => made.reduce((renamed, rename) => rename(renamed), value);
}

const centsName = (key: string): string => `${key.replace(/Euros$/, '')}Cents`;

/** True for `euros()`, also when it is optional or nullable. */
export function isAmount(schema: z.ZodType): boolean {
  const inner = unwrapped(schema);
  if (inner !== schema) return isAmount(inner);
  if (!(schema instanceof z.ZodPipe) || !(schema.out instanceof z.ZodTransform)) return false;
  return amounts.has(schema.out.def.transform);
}

/** What is inside of `optional`, `nullable`, `default`, and the other wrappers that keep the value's form. */
export function unwrapped(schema: z.ZodType): z.ZodType {
  const isWrapper =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNonOptional ||
    schema instanceof z.ZodReadonly;
  return isWrapper ? (schema.def.innerType as z.ZodType) : schema;
}
