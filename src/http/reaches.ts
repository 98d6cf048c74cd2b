/**
 * Checks every record that a request names by id, before the handler runs: a record of another owner does not exist
 * (404), a record of another agent is closed to an agent's token (403). An id field of a contract (`id('intent')`) is
 * checked unless the operation's `reaches` says otherwise, so that no operation can omit the check.
 * @module
 */
import * as z from 'zod';
import { DomainError } from '../kernel/errors.ts';
import type { Id, IdKind } from '../kernel/ids.ts';
import { nounOf } from '../kernel/nouns.ts';
import { mayReach, type Own, type Owned } from './caller.ts';
import { unwrapped } from './cents-names.ts';

/** Kind of id to what its lookup returns; the file that declares a record extends it by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: the areas declare its members.
export interface Records {}

/** Finds a record by id, of any owner; the edge compares the owner. `own` narrows a read that needs it. */
export type Lookup<Kind extends IdKind & keyof Records> = (
  id: Id<Kind>,
  own: Own,
) => Promise<(Records[Kind] & Owned) | null>;
export type Lookups = { readonly [Kind in IdKind & keyof Records]?: Lookup<Kind> };

type AnyLookup = (id: string, own: Own) => Promise<Owned | null>;

/**
 * `filter`: the id narrows a list that is confined to the caller's records anyway. `elsewhere`: the operation's own
 * statement or transaction compares owner and agent, for the given reason.
 */
export type Reach = 'filter' | { readonly elsewhere: string };
export type Reaches = Readonly<Record<`${'params' | 'query' | 'body'}.${string}`, Reach>>;

declare const reached: unique symbol;
/** An id whose record the edge has checked against the caller. Only the edge makes it. */
export type ReachedId<Kind extends IdKind> = Id<Kind> & { readonly [reached]: true };

type Fields = { readonly params?: z.ZodType; readonly query?: z.ZodType; readonly body?: z.ZodType };
export type IdField = { readonly path: string; readonly place: keyof Fields; readonly kind: IdKind };

const kinds = new WeakMap<object, IdKind>();

/** Marks the transformation of `id()`; a schema's copies keep it. */
export function idOfKind<Transform extends object>(kind: IdKind | undefined, transform: Transform): Transform {
  if (kind !== undefined) kinds.set(transform, kind);
  return transform;
}

/** Every id that a request of this operation may contain, at every depth. */
export const idFieldsOf = (operation: Fields): IdField[] =>
  (['params', 'query', 'body'] as const).flatMap((place) => {
    const schema = operation[place];
    return schema === undefined ? [] : fieldsIn(schema, place).map((field) => ({ ...field, place }));
  });

function fieldsIn(schema: z.ZodType, path: string): { path: string; kind: IdKind }[] {
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([key, field]) => fieldsIn(field as z.ZodType, `${path}.${key}`));
  }
  if (schema instanceof z.ZodArray) return fieldsIn(schema.element as z.ZodType, path);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((one) => fieldsIn(one as z.ZodType, path));
  if (schema instanceof z.ZodPipe) {
    const kind = schema.out instanceof z.ZodTransform ? kinds.get(schema.out.def.transform) : undefined;
    return kind === undefined ? fieldsIn(schema.in as z.ZodType, path) : [{ path, kind }];
  }
  const inner = unwrapped(schema);
  return inner === schema ? [] : fieldsIn(inner, path);
}

type Checked = IdField & { readonly lookup: AnyLookup | undefined };
export type Reaching = (input: Readonly<Record<keyof Fields, unknown>>, own: Own) => Promise<Partial<Records>>;

/** Made once per operation. Throws for an id that has neither a lookup nor an exemption. */
export function reachingOf(
  name: string,
  operation: Fields & { readonly reaches?: Reaches },
  lookups: Lookups,
): Reaching | undefined {
  const exempt: Readonly<Record<string, Reach>> = operation.reaches ?? {};
  const checked = idFieldsOf(operation).flatMap((field): Checked[] => {
    const reach = exempt[field.path];
    if (reach === 'filter') return field.kind === 'agent' ? [{ ...field, lookup: undefined }] : [];
    if (reach !== undefined) return [];
    const lookup = (lookups as Readonly<Record<string, AnyLookup>>)[field.kind];
    if (lookup === undefined) throw new Error(`${name}: no area looks up the ${field.kind} of ${field.path}`);
    return [{ ...field, lookup }];
  });
  return checked.length === 0 ? undefined : (input, own) => reach(checked, input, own);
}

async function reach(
  checked: readonly Checked[],
  input: Readonly<Record<keyof Fields, unknown>>,
  own: Own,
): Promise<Partial<Records>> {
  const named = checked.flatMap((field) => idsAt(input, field.path).map((id) => ({ ...field, id })));
  // Several fields, or several variants of a union, may name one record: it is looked up once.
  const wanted = named.filter(
    ({ lookup, id }, index) => named.findIndex((one) => one.id === id && one.lookup === lookup) === index,
  );
  const found = await Promise.all(
    wanted.map(async ({ lookup, id, kind }) => {
      if (lookup === undefined) return refuseSibling(own, id);
      return [kind, await lookup(id, own)] as const;
    }),
  );
  const records: Record<string, Owned> = {};
  for (const [index, one] of found.entries()) {
    const id = wanted[index]?.id ?? '';
    if (one !== undefined) records[one[0]] = mayReach(own, nouns[one[0]] ?? nounOf(one[0]), id, one[1]);
  }
  return records as Partial<Records>;
}

/** A list filtered by another agent is refused instead of empty, because an agent's token sees its own records only. */
function refuseSibling(own: Own, agentId: string): undefined {
  if (own.agentId === undefined || own.agentId === agentId) return undefined;
  throw new DomainError('agent_isolation', `records of ${agentId} are closed to another agent`);
}

function idsAt(input: Readonly<Record<string, unknown>>, path: string): string[] {
  const values = path.split('.').reduce<unknown[]>(
    (at, key) =>
      at.flatMap((value) => {
        if (typeof value !== 'object' || value === null) return [];
        const inner: unknown = (value as Readonly<Record<string, unknown>>)[key];
        return Array.isArray(inner) ? inner : [inner];
      }),
    [input],
  );
  return [...new Set(values.filter((value) => typeof value === 'string'))];
}

/** Where a sentence names a record by more than its kind. */
const nouns: Partial<Record<IdKind, string>> = { entry: 'ledger entry' };
