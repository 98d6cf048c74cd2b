/**
 * The tool that calls operations without a tool of their own, where the owner allows it by the scope `operations.call`.
 * Never one that shows a secret or a card number, whatever the scopes.
 * @module
 */
import type { Scope } from '../../http/scopes.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Outcome } from '../answer.ts';
import { type Described, isDone, type Kind, keyOf, type Served } from '../operations.ts';
import { refusal } from '../refusals.ts';
import { type Arguments, type Calling, type ComposedTool, purchaseRef, type Tool } from '../tool.ts';

export const callScope: Scope = 'operations.call';

/** Streams are files, and pages are for people. */
export const isCallable = ({ operation, name }: Served): boolean =>
  operation.secret !== true &&
  operation.streams === undefined &&
  operation.page !== true &&
  operation.success.body !== undefined &&
  operation.scope !== 'cards.reveal' &&
  !/reveal|secret/i.test(`${name} ${operation.path}`);

export function operationsCall(kind: Kind, { served }: Described, tools: readonly Tool[]): ComposedTool {
  const named = new Set(
    tools.flatMap((tool) =>
      'operation' in tool && (kind === 'key' || tool.isOwners !== true) ? [tool.operation] : [],
    ),
  );
  const offered = [...served.values()].filter(
    (one) => isCallable(one) && one.operation.auth.includes(kind) && !named.has(one.name),
  );
  const known = new Map(offered.map((one) => [one.name, one]));
  return {
    name: 'operations_call',
    title: 'Call another operation',
    description:
      'Calls an operation of the API that has no tool of its own, with the fields of its OpenAPI entry in path, query and body. Prefer the other tools; use this only for what they cannot do. Everything but a read needs a purchaseRef, so that a repeat does nothing twice. Operations that show a secret or a card number are not among them.',
    reason: 'What is rarely needed shall not cost a place in the list.',
    scope: callScope,
    operations: [],
    isDestructive: true,
    isOpenWorld: true,
    input: {
      operationId: { type: 'string', enum: [...known.keys()], description: 'The operation, as in GET /openapi.json.' },
      path: { type: 'object', description: 'Parameters of the path, such as {"id": "…"}.' },
      query: { type: 'object', description: 'Parameters of the query.' },
      body: { type: 'object', description: 'The body.' },
      purchaseRef,
    },
    required: ['operationId'],
    output: () => ({ type: 'object', description: 'The answer of the operation.', additionalProperties: {} }),
    run: (given, calling) => callOperation(known, given, calling),
  };
}

async function callOperation(known: ReadonlyMap<string, Served>, given: Arguments, calling: Calling): Promise<Outcome> {
  const asked = { tool: 'operations_call', arguments: given };
  const { operationId, path, query, body, purchaseRef: ref } = given;
  const { caller } = calling;
  if (caller.kind === 'agent' && !caller.scopes.includes(callScope)) {
    const lacking = new DomainError('insufficient_scope', `this token lacks the scope ${callScope}`);
    calling.noteRefused(lacking);
    return refusal(lacking, asked);
  }
  const found = typeof operationId === 'string' ? known.get(operationId) : undefined;
  if (found === undefined)
    return refusal(
      { code: 'not_found', message: 'operationId: is none of the operations that can be called here' },
      asked,
    );
  const isRead = found.operation.method === 'get' || found.operation.pure === true;
  if (!isRead && (typeof ref !== 'string' || ref.trim() === ''))
    return refusal(
      { code: 'invalid_request', message: 'purchaseRef: is missing; everything but a read needs it' },
      asked,
    );
  const answer = await calling.ask(found.name, {
    params: objectIn(path),
    query: objectIn(query),
    ...(found.operation.body === undefined ? {} : { body: body ?? {} }),
    ...(isRead ? {} : { idempotencyKey: keyOf(found.name, ref) }),
  });
  if (!isDone(answer)) return refusal(answer, asked);
  return { kind: 'result', result: answer.body, next: { do: 'Done.' } };
}

const objectIn = (value: unknown): Arguments =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Arguments) : {};
