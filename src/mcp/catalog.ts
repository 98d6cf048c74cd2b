/**
 * Compiles the tools for one kind of credential: those whose operations are served and open to it, with schemas from the
 * contracts. A tool whose operation does not exist is left out, and appears with it.
 * @module
 */
import type { Tool as McpTool } from '@modelcontextprotocol/server';
import type { Json } from '../http/openapi-schemas.ts';
import type { BearerCaller } from '../http/protocol.ts';
import { grants, type Scope } from '../http/scopes.ts';
import type { Outcome } from './answer.ts';
import { type Described, isDone, type Kind, keyOf } from './operations.ts';
import { refusal } from './refusals.ts';
import { describeOperation, type Field, foreignTexts } from './schemas.ts';
import {
  type Arguments,
  type Ask,
  type Calling,
  type ComposedTool,
  type OperationTool,
  pageLimit,
  purchaseRef,
  type Tool,
} from './tool.ts';
import { cardTools } from './tools/cards.ts';
import { operationsCall } from './tools/operations-call.ts';
import { ownerTools } from './tools/owner.ts';
import { paymentTools } from './tools/payments.ts';
import { spendingTools } from './tools/spending.ts';
import { transferTools } from './tools/transfers.ts';

export type CompiledTool = {
  readonly tool: Tool;
  readonly shown: McpTool;
  /** The scopes that an agent's token needs to see it. */
  readonly scopes: readonly Scope[];
  readonly isOffered: boolean;
  readonly untrusted: readonly string[];
  run(given: Arguments, calling: Calling): Promise<Outcome>;
};

/** By their names, in the order in which they are listed. */
export type Catalog = ReadonlyMap<string, CompiledTool>;

export const namedTools: readonly Tool[] = [
  ...spendingTools,
  ...paymentTools,
  ...transferTools,
  ...cardTools,
  ...ownerTools,
];

export function catalogFor(kind: Kind, described: Described): Catalog {
  const all = [...namedTools, operationsCall(kind, described, namedTools)];
  const compiled = all.flatMap((tool) => {
    const [first, ...others] = operationsOf(tool);
    return first === undefined || described.served.has(first) || isWithout(tool)
      ? [compile(tool, kind, { ...described, used: [first, ...others] })]
      : [];
  });
  return new Map(compiled.map((one) => [one.shown.name, one]));
}

const isWithout = (tool: Tool): boolean => operationsOf(tool).length === 0;

const operationsOf = (tool: Tool): readonly string[] => ('operation' in tool ? [tool.operation] : tool.operations);

/** What a caller is shown; a tool that is not shown can be called, and is refused by the edge, which notes it. */
export function isShown({ isOffered, scopes }: CompiledTool, caller: BearerCaller): boolean {
  return isOffered && (caller.kind === 'key' || scopes.every((scope) => grants(caller.scopes, scope)));
}

type Compiling = Described & { readonly used: readonly (string | undefined)[] };

function compile(tool: Tool, kind: Kind, compiling: Compiling): CompiledTool {
  const [first] = compiling.used;
  const operation = first === undefined ? undefined : compiling.served.get(first)?.operation;
  const { input, result, run } =
    'operation' in tool ? compileOne(tool, kind, compiling) : compileComposed(tool, kind, compiling);
  const isReadOnly = operation?.method === 'get' || operation?.pure === true;
  const outputSchema = outputOf(result);
  return {
    tool,
    run,
    isOffered: (operation?.auth.includes(kind) ?? true) && (kind === 'key' || tool.isOwners !== true),
    scopes: [tool.scope ?? operation?.scope].filter((scope) => scope !== undefined),
    untrusted: foreignTexts(result, 'result'),
    shown: {
      name: tool.name,
      title: tool.title,
      description: tool.description,
      inputSchema: input as McpTool['inputSchema'],
      outputSchema: outputSchema as NonNullable<McpTool['outputSchema']>,
      annotations: {
        title: tool.title,
        readOnlyHint: isReadOnly,
        destructiveHint: !isReadOnly && tool.isDestructive === true,
        idempotentHint: true,
        openWorldHint: tool.isOpenWorld === true,
      },
    },
  };
}

/** Without descriptions, because it is in every tool: the server's instructions say once what the fields are. */
const nextSchema = {
  type: 'object',
  properties: { do: { type: 'string' }, tool: { type: 'string' }, arguments: { type: 'object' } },
  required: ['do'],
};

const outputOf = (result: Json): Json => ({
  type: 'object',
  properties: {
    result,
    untrusted: { type: 'array', items: { type: 'string' } },
    next: nextSchema,
  },
  required: ['result', 'untrusted', 'next'],
});

type Compiled = { readonly input: Json; readonly result: Json; run: CompiledTool['run'] };

function compileComposed(tool: ComposedTool, kind: Kind, compiling: Compiling): Compiled {
  const agent = tool.isOfAgent === true && kind === 'key' ? { agentId: agentIdField } : {};
  const required = [...Object.keys(agent), ...(tool.required ?? [])];
  const input = objectOf({ ...agent, ...tool.input }, required);
  const known = new Set(Object.keys(input.properties as object));
  return {
    input,
    result: tool.output((name) => answerSchema(name, compiling)),
    run: async (args, calling) => {
      const fault = strangeIn(args, known);
      return fault === undefined
        ? tool.run(args, calling)
        : refusal({ code: 'invalid_request', message: fault }, { tool: tool.name, arguments: args });
    },
  };
}

const agentIdField = { type: 'string', description: 'Id of the agent.' };

const objectOf = (properties: Readonly<Record<string, object>>, required: readonly string[]): Json => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
  additionalProperties: false,
});

function answerSchema(name: string, { served, openapi }: Compiling): Json {
  const found = served.get(name);
  if (found === undefined) return { type: 'object' };
  return asObject(describeOperation(openapi, found.path, found.operation).answer ?? { type: 'object' });
}

const asObject = (schema: Json): Json =>
  schema.type === 'array' ? { type: 'object', properties: { data: schema }, required: ['data'] } : schema;

/** One argument of a tool and the field of the operation that it fills. */
type Argument = Field & { readonly as: string };

function compileOne(tool: OperationTool, kind: Kind, compiling: Compiling): Compiled {
  const found = compiling.served.get(tool.operation);
  if (found === undefined) throw new Error(`there is no operation ${tool.operation}`);
  const { fields, answer } = describeOperation(compiling.openapi, found.path, found.operation, tool.shape);
  const hidden = [...(tool.without ?? []), ...Object.keys(tool.fixed ?? {})];
  const given = fields.filter(({ name }) => !hidden.includes(name));
  /** The token's agent is the only one: it is filled in, and no filter by agent is offered. */
  const isAgents = ({ name }: Field): boolean =>
    kind === 'agent' && tool.isOwners !== true && (tool.names?.[name] ?? name) === 'agentId';
  const offered = given
    .filter((field) => !isAgents(field) && field.name !== tool.purchase)
    .map((field): Argument => ({ ...field, as: tool.names?.[field.name] ?? field.name }));
  const filled = given.filter((field) => isAgents(field) && (field.isRequired || field.place === 'path'));
  const isNamed = ({ as }: Argument): boolean =>
    tool.required?.includes(as) === true || (kind === 'key' && isOwed(as, tool));
  const input = objectOf(
    {
      ...Object.fromEntries(offered.map(({ as, schema }) => [as, as === 'limit' ? pageLimit : schema])),
      ...tool.further,
      ...(tool.purchase === undefined ? {} : { purchaseRef }),
    },
    [
      ...offered.filter((one) => one.isRequired || isNamed(one)).map(({ as }) => as),
      ...(tool.purchase === undefined ? [] : ['purchaseRef']),
    ],
  );
  const known = new Set(Object.keys(input.properties as object));
  return {
    input,
    result: asObject(answer ?? { type: 'object' }),
    run: async (args, calling) => {
      const asked = { tool: tool.name, arguments: args };
      const fault = faultOf(args, known, tool);
      if (fault !== undefined) return refusal({ code: 'invalid_request', message: fault }, asked);
      const request = requestOf(args, { tool, offered, filled, calling });
      const ask = () => calling.ask(tool.operation, request);
      const answered = await (tool.call?.(ask, args, calling) ?? ask());
      if (!isDone(answered)) {
        const isExplained = answered.code !== 'policy_denied' || answered.refusedBy?.figures !== undefined;
        const decided = isExplained ? undefined : await tool.explain?.(args, calling);
        return refusal(answered, asked, decided);
      }
      const refused = await tool.refuse?.(answered.body, args, calling);
      return refused ?? { kind: 'result', result: answered.body, next: await tool.next(answered.body, args, calling) };
    },
  };
}

/** An owner names the agent of a declaration; a token is its agent's. */
const isOwed = (as: string, { operation }: OperationTool): boolean => as === 'agentId' && operation === 'declareIntent';

type Filling = {
  readonly tool: OperationTool;
  readonly offered: readonly Argument[];
  readonly filled: readonly Field[];
  readonly calling: Calling;
};

function requestOf(args: Arguments, { tool, offered, filled, calling: { caller } }: Filling): Ask {
  const values = [
    ...offered.flatMap(({ place, name, as }) => (as in args ? [[place, name, args[as]] as const] : [])),
    ...filled.map(({ place, name }) => [place, name, caller.kind === 'agent' ? caller.agentId : undefined] as const),
    ...Object.entries(tool.fixed ?? {}).map(([name, value]) => ['body', name, value] as const),
    ...(tool.purchase === undefined || tool.purchase === 'key'
      ? []
      : [['body', tool.purchase, args.purchaseRef] as const]),
    ...(offered.some(({ as }) => as === 'limit') && args.limit === undefined ? [['query', 'limit', 10] as const] : []),
  ];
  const at = (wanted: string) =>
    Object.fromEntries(values.flatMap(([place, name, value]) => (place === wanted ? [[name, value]] : [])));
  const key = keyFor(tool, args);
  return {
    params: at('path'),
    query: at('query'),
    body: at('body'),
    ...(key === undefined ? {} : { idempotencyKey: key }),
  };
}

/** Of a purchase: its name and its intent. A declaration finds itself by the name, whatever state it is in by now. */
function keyFor({ operation, purchase, isRepeatable }: OperationTool, args: Arguments): string | undefined {
  if (purchase === 'key') return keyOf(operation, args.purchaseRef, args.intentId ?? null);
  if (isRepeatable !== true) return undefined;
  return keyOf(
    operation,
    Object.entries(args).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** What the edge cannot see: arguments that no field has, and the name of the purchase. */
function faultOf(args: Arguments, known: ReadonlySet<string>, { purchase }: OperationTool): string | undefined {
  const strange = strangeIn(args, known);
  if (strange !== undefined || purchase === undefined) return strange;
  const { purchaseRef: ref } = args;
  return typeof ref === 'string' && ref.trim() !== '' && ref.length <= 64
    ? undefined
    : 'purchaseRef: is missing; give your own name of the purchase, of 1 to 64 characters';
}

const strangeIn = (args: Arguments, known: ReadonlySet<string>): string | undefined =>
  Object.keys(args).every((name) => known.has(name))
    ? undefined
    : `unknown arguments; there are ${[...known].join(', ') || 'none'}`;
