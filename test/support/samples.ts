/**
 * The form in which an area's test folder describes the area to the suites that cover all operations: one successful
 * call of each operation, and one record for each id that an operation accepts.
 * @module
 */
import type * as z from 'zod';
import type { Client } from '../../src/client/client.ts';
import type { Area } from '../../src/http/route.ts';
import type { Owner, World } from './world.ts';

export type Asked = {
  path?: Record<string, string>;
  query?: string;
  body?: object;
  /** Instead of JSON: a file. */
  text?: string;
  headers?: Record<string, string>;
  as?: 'dashboard' | 'nobody';
  /** Another owner than the owner of the records. */
  by?: Owner;
};
export type Ask = () => Asked | Promise<Asked>;

/** Makes one record, or several that belong together. */
export type Make<T> = (sampler: Sampler) => Promise<T>;

/** One owner in one installation. `the` makes a record at the first use and returns the same record afterwards. */
export class Sampler {
  readonly world: World;
  readonly owner: Owner;
  readonly #made = new Map<unknown, Promise<unknown>>();

  constructor(world: World, owner: Owner) {
    this.world = world;
    this.owner = owner;
  }

  the<T>(make: Make<T>): Promise<T> {
    const made = (this.#made.get(make) as Promise<T> | undefined) ?? make(this);
    this.#made.set(make, made);
    return made;
  }

  client<A extends Area>(area: A): Client<A> {
    return this.owner.client(area);
  }
}

type KeysOf<S> = S extends z.ZodObject<infer Shape> ? keyof Shape & string : never;
type ParametersOf<A extends Area> = {
  [K in keyof A['operations']]: KeysOf<A['operations'][K]['params']>;
}[keyof A['operations']];
type NamesOf<A extends Area> = keyof A['operations'] & string;

/** The id of a record of the owner, or `public`: the parameter does not name a record of an owner. */
export type IdSample = Make<string> | 'public';

type Given<A extends Area> = {
  /** By name of the parameter in paths and queries. Every path parameter of the area must be present. */
  readonly ids: Readonly<Record<ParametersOf<A>, IdSample>> & Readonly<Record<string, IdSample>>;
  /** One call of each operation that succeeds. Each prepares what it consumes, so that it can be made repeatedly. */
  readonly calls: (sampler: Sampler) => { readonly [K in NamesOf<A>]: Ask };
  /**
   * Other calls that succeed and take another way through the product, each named by what is different. The suite of
   * all operations sends them too.
   */
  readonly variants?: { readonly [K in NamesOf<A>]?: Readonly<Record<string, (sampler: Sampler) => Ask>> };
  /** Operations that act again when they are repeated with the same Idempotency-Key, each with the reason. */
  readonly actsTwice?: { readonly [K in NamesOf<A>]?: string };
  /** Operations that answer 503 while Temporal is away: approvals on request, and what asks the outside world. */
  readonly needsTemporal?: readonly NamesOf<A>[];
  /** Operations that may have succeeded although the API lost Temporal, because another process finished the work. */
  readonly mayOutliveTemporal?: readonly NamesOf<A>[];
  /** Operations that read no table and answer while PostgreSQL is away. */
  readonly needsNothing?: readonly NamesOf<A>[];
  /** Reads that a sibling agent may make, because the record belongs to both agents. */
  readonly sharedBySiblings?: readonly NamesOf<A>[];
  /** Lists in which the sample calls leave fewer than two rows. Tests of their own read them page by page. */
  readonly shortLists?: readonly NamesOf<A>[];
};

/** What a suite reads: the types of the area are forgotten. */
export class AreaSamples {
  readonly area: Area;
  readonly ids: Readonly<Record<string, IdSample>>;
  readonly calls: (sampler: Sampler) => Readonly<Record<string, Ask>>;
  readonly variants: Readonly<Record<string, Readonly<Record<string, (sampler: Sampler) => Ask>> | undefined>>;
  readonly actsTwice: Readonly<Record<string, string | undefined>>;
  readonly needsTemporal: readonly string[];
  readonly mayOutliveTemporal: readonly string[];
  readonly needsNothing: readonly string[];
  readonly sharedBySiblings: readonly string[];
  readonly shortLists: readonly string[];

  constructor(area: Area, given: Given<Area>) {
    this.area = area;
    this.ids = given.ids;
    this.calls = given.calls;
    this.variants = given.variants ?? {};
    this.actsTwice = given.actsTwice ?? {};
    this.needsTemporal = given.needsTemporal ?? [];
    this.mayOutliveTemporal = given.mayOutliveTemporal ?? [];
    this.needsNothing = given.needsNothing ?? [];
    this.sharedBySiblings = given.sharedBySiblings ?? [];
    this.shortLists = given.shortLists ?? [];
  }
}

/** An operation without a call, and a path parameter without a record, do not compile. */
export const samplesOf = <A extends Area>(area: A, given: Given<A>): AreaSamples => new AreaSamples(area, given);
