/**
 * The declaration of a tool, and the parts that its calls are made of. A tool calls operations through the edge and has
 * no right of its own: what the token may not do, the edge refuses.
 * @module
 */

import type { Json } from '../http/openapi-schemas.ts';
import type { BearerCaller } from '../http/protocol.ts';
import type { Scope } from '../http/scopes.ts';
import type { DomainError, RefusedBy } from '../kernel/errors.ts';
import type { Next, Outcome } from './answer.ts';

export type Arguments = Readonly<Record<string, unknown>>;

export type Answer = {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** Of a refusal: as published. */
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds: number | undefined;
  /** Of a refusal that names its rule. */
  readonly refusedBy?: RefusedBy | undefined;
};

export type Ask = {
  readonly params?: Arguments;
  readonly query?: Arguments;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
};

/** One call of a tool. */
export type Calling = {
  readonly caller: BearerCaller;
  /** Aborts when the client is gone or the process ends. */
  readonly signal: AbortSignal;
  /** Takes a place among the calls that wait; undefined where too many do. */
  takeWait(): (() => void) | undefined;
  /** Notes a refusal that no operation made, like a refused access. */
  noteRefused(error: DomainError): void;
  /** Calls an operation through the edge. */
  ask(operation: string, ask: Ask): Promise<Answer>;
  /** Tells a client that wants to know that the call goes on. */
  progress(seconds: number, of: number): Promise<void>;
};

type Common = {
  /** `[a-z0-9_]`, at most 40 characters. */
  readonly name: string;
  readonly title: string;
  /** The first sentence decides whether a model chooses it. */
  readonly description: string;
  /** Why there is this tool; docs/mcp.md shows it. */
  readonly reason: string;
  /** Where it is not that of its operation. */
  readonly scope?: Scope;
  /** Only for an owner's key. */
  readonly isOwners?: true;
  readonly isDestructive?: true;
  /** Reaches the world outside: merchants and the card network. */
  readonly isOpenWorld?: true;
};

/** A tool that calls one operation. */
export type OperationTool = Common & {
  readonly operation: string;
  /** Fields of the operation under another name, such as a path's `id`. */
  readonly names?: Readonly<Record<string, string>>;
  /** Fields that are not offered. */
  readonly without?: readonly string[];
  /** Fields with their only value. */
  readonly fixed?: Arguments;
  /** The shape of a body that has several, by its name in the OpenAPI document. */
  readonly shape?: string;
  /** The field that is the caller's own name of the purchase, or `key`: the name makes the idempotency key. */
  readonly purchase?: 'key' | (string & {});
  /** Fields that are optional in the contract and required here. */
  readonly required?: readonly string[];
  /** What the caller does next. Reads ids, states and amounts, never texts. */
  readonly next: (body: Answer['body'], given: Arguments, calling: Calling) => Next | Promise<Next>;
  /** Of a successful answer that is none for the agent. */
  readonly refuse?: (body: Answer['body'], given: Arguments, calling: Calling) => Promise<Outcome | undefined>;
  /** The rule and figures behind a refusal by the policy, where the refusal itself names none. */
  readonly explain?: (given: Arguments, calling: Calling) => Promise<Decided | undefined>;
  /** Equal arguments are the same call. */
  readonly isRepeatable?: true;
  /** Instead of one call: how it is carried out. */
  readonly call?: (ask: () => Promise<Answer>, given: Arguments, calling: Calling) => Promise<Answer>;
  /** Further arguments, which `call` reads. */
  readonly further?: Readonly<Record<string, object>>;
};

/** A tool that puts several operations together. */
export type ComposedTool = Common & {
  /** Without the first there is no tool; the others add to it. */
  readonly operations: readonly string[];
  /** About one agent: the token's, or the one that an owner names. */
  readonly isOfAgent?: true;
  readonly input: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly output: (answerOf: (operation: string) => Json) => Json;
  readonly run: (given: Arguments, calling: Calling) => Promise<Outcome>;
};

export type Tool = OperationTool | ComposedTool;

export type Decided = { readonly rule: string; readonly figures: Readonly<Record<string, unknown>> };

export const purchaseRef = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  description:
    'Your own name for this purchase, such as order-17. Send the same one in every call of one purchase, and when you repeat a call after a time-out; a new one only for a new purchase.',
  examples: ['order-17'],
};

/** One page is enough to choose from, and short enough to read. */
export const pageLimit = { type: 'integer', minimum: 1, maximum: 25, description: 'Records on a page; absent: 10.' };
