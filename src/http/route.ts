/**
 * The declaration of an operation, from which validation, routing, aliases, callers, OpenAPI, the typed client and the
 * coverage test are derived. An area without a handler for each of its operations does not compile.
 * @module
 */
import type * as z from 'zod';
import type { EventName } from '../events/catalog.ts';
import type { ErrorCode } from '../kernel/errors.ts';
import type { Id, IdKind } from '../kernel/ids.ts';
import type { Call, Own } from './caller.ts';
import type { Received } from './cents-names.ts';
import type { Page } from './pages.ts';
import type { Lookups, ReachedId, Reaches, Records } from './reaches.ts';
import type { Scope } from './scopes.ts';
import type { Streamed, StreamedType } from './streamed.ts';

export type AuthKind = 'key' | 'agent' | 'dashboard' | 'clock' | 'merchant' | 'network' | 'public';
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

export type Operation = {
  readonly method: Method;
  /** Below the area's base, parameters in braces: `/{id}/approve`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** Who may call. `scope` is given exactly when `agent` is among them. */
  readonly auth: readonly [AuthKind, ...AuthKind[]];
  readonly scope?: Scope;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** `also`: another status with the same body, such as 200 for a record that was there already. */
  readonly success: { readonly status: number; readonly body?: z.ZodType; readonly also?: readonly number[] };
  /** The answer is a file of one of these types, sent as it is read; the body of `success` is one line of its NDJSON. */
  readonly streams?: readonly [StreamedType, ...StreamedType[]];
  /** The codes of refusals beyond those that follow from the rest of the declaration (`codesOfTheEdge`). */
  readonly refusals: readonly ErrorCode[];
  /**
   * All events that a call may fire: those that its handler records, and those that a workflow records for it (a
   * decision, an issued card). Not those of deadlines and of network messages. Every operation that is not a GET fires
   * an event, has the network fire one, or says that it changes nothing. A run of all tests compares this list with
   * the events that were fired.
   */
  readonly fires?: readonly [EventName, ...EventName[]];
  /** The card network calls these operations to carry the call out; they record the payment and fire its events. */
  readonly networkCalls?: readonly [string, ...string[]];
  readonly pure?: true;
  /** The answer holds a secret: kept sealed for ten minutes for a repeat, then no longer. */
  readonly secret?: true;
  /** The answer holds a capability link: kept sealed for a repeat, as long as any answer. */
  readonly sealed?: true;
  /** How long callers and proxies may keep the answer; without it not at all. */
  readonly cacheSeconds?: number;
  /**
   * Only the status of the answer is stored: a repeat with the key runs the handler again, which finds the record by its
   * reserved id and answers with what the record says now.
   */
  readonly answersFromRow?: true;
  /** Refusals are problem details (RFC 9457), with `error` beside their members. */
  readonly problems?: true;
  /** Browsers get the same answer as a page. */
  readonly page?: true;
  /** Exceptions to the check of every id in the request (reaches.ts). */
  readonly reaches?: Reaches;
  /** The operation acts for no owner, or for one that its input names. */
  readonly ownerless?: true;
  /**
   * `required`: without a key the operation refuses. `atomic`: one database statement writes key, answer and effect, so
   * nothing is reserved; the handler writes by `atomicWrites` (atomic.ts). Every operation accepts a key.
   */
  readonly idempotency?: 'required' | 'atomic';
  readonly bodyLimitBytes?: number;
  /** Of a list without pages: why. Every other list takes `pageQuery` and answers `pageOut`. */
  readonly unpaged?: string;
  /** Exempt from the rate limit: health, and operations with a separate ceiling. */
  readonly unlimited?: true;
  /** The body is a file of this type. It is not read before the handler does so, by `call.readFile`. */
  readonly takes?: 'application/xml';
  /** Present only in a sandbox deployment. */
  readonly sandboxOnly?: true;
};

export type Area = {
  readonly tag: string;
  /** Canonical base path, with `/v1` where the specification has it. */
  readonly base: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly operations: Readonly<Record<string, Operation>>;
  /** Paths below the base that are to come: 404 until then, although a parameter would fit them. */
  readonly notBuilt?: readonly string[];
};

export const defineArea = <const A extends Area>(area: A): A => area;

type Parsed<Schema, Otherwise> = Schema extends z.ZodType ? Received<Schema> : Otherwise;
type None = Record<string, never>;

export type Input<O extends Operation> = {
  readonly params: WithReachedIds<Parsed<O['params'], None>, 'params', O>;
  readonly query: WithReachedIds<Parsed<O['query'], None>, 'query', O>;
  readonly body: WithReachedIds<Parsed<O['body'], undefined>, 'body', O>;
  /** Whose records the call may read and change. */
  readonly own: O extends { ownerless: true } ? undefined : Own;
  /** The records of the request's ids, as they were before the handler ran. A write reads its row again under lock. */
  readonly records: RecordsOf<O>;
  /** Method and request target as sent, query included: `POST /network/clearings`. Signatures cover it. */
  readonly requestLine: string;
  /** The bytes as received; signatures cover these. */
  readonly rawBody: Uint8Array;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

type Exempt<O extends Operation> = O extends { reaches: infer R } ? keyof R : never;

type KindOf<T> = T extends string ? { [K in IdKind]: T extends Id<K> ? K : never }[IdKind] : never;

type WithReachedIds<T, Place extends string, O extends Operation> = {
  readonly [Field in keyof T]: `${Place}.${Field & string}` extends Exempt<O>
    ? T[Field]
    : KindOf<T[Field]> extends never
      ? T[Field]
      : ReachedId<KindOf<T[Field]>> | Exclude<T[Field], string>;
};

/** Kinds of the ids that every request has. */
type KindsIn<T, Place extends string, O extends Operation> = T extends object
  ? {
      [Field in keyof T]-?: undefined extends T[Field]
        ? never
        : `${Place}.${Field & string}` extends Exempt<O>
          ? never
          : KindOf<T[Field]>;
    }[keyof T]
  : never;

type KindsOf<O extends Operation> =
  | KindsIn<Parsed<O['params'], None>, 'params', O>
  | KindsIn<Parsed<O['query'], None>, 'query', O>
  | KindsIn<Parsed<O['body'], undefined>, 'body', O>;

type RecordsOf<O extends Operation> = { readonly [Kind in KindsOf<O> & keyof Records]: Records[Kind] };

export type Output<O extends Operation> = O extends { streams: readonly unknown[] }
  ? Streamed
  : O['success'] extends { body: infer B extends z.ZodType }
    ? z.input<B>
    : undefined;

/** An answer with another status than the usual one, or with further headers. */
export class Reply<Body> {
  readonly status: number;
  readonly body: Body;
  /** The answer of an earlier request with the same key. */
  readonly isReplayed: boolean;
  constructor(status: number, body: Body, { isReplayed = false } = {}) {
    this.status = status;
    this.body = body;
    this.isReplayed = isReplayed;
  }
}

export type Handlers<A extends Area> = {
  readonly [K in keyof A['operations']]: (
    input: Input<A['operations'][K]>,
    call: Call,
  ) => Promise<Output<A['operations'][K]> | Reply<Output<A['operations'][K]>>>;
};

/** An area with its handlers, types forgotten: what the mount and the document work on. */
export type Mounted = {
  readonly area: Area;
  readonly handlers: Readonly<Record<string, (input: Input<Operation>, call: Call) => Promise<unknown>>>;
  readonly pages: Readonly<Record<string, Page>>;
  /** How records of the area are found by id. */
  readonly lookups: Lookups;
};

/** One page for each operation that has one, and for no other. */
type Pages<A extends Area> = {
  readonly [K in keyof A['operations'] as A['operations'][K] extends { page: true } ? K : never]: Page<
    NonNullable<A['operations'][K]['success']['body']>
  >;
};

/** `pages` is required exactly where an operation of the area has a page. */
export type WithPages<A extends Area> = keyof Pages<A> extends never
  ? { readonly pages?: never }
  : { readonly pages: Pages<A> };

export const mounted = <A extends Area>(
  area: A,
  handlers: Handlers<A>,
  { pages }: WithPages<A>,
  lookups: Lookups = {},
): Mounted => ({
  area,
  lookups,
  handlers: handlers as unknown as Mounted['handlers'],
  pages: (pages ?? {}) as Mounted['pages'],
});

/** Every path under which an operation is served: canonical and aliases, each with and without `/v1`. */
export function pathsOf(area: Area, operation: Pick<Operation, 'path'>): string[] {
  const bases = [area.base, ...area.aliases].map((base) => base.replace(/^\/v1(?=\/)/, ''));
  const paths = bases.flatMap((base) => [`${base}${operation.path}`, `/v1${base}${operation.path}`]);
  return paths.map((path) => (path.length > 1 ? path.replace(/\/$/, '') : path));
}
