/** The calls of MCP tools that make the same call of an operation as a sample does. @module */

import { publishedAreas } from '../../src/main/modules/index.ts';
import { namedTools } from '../../src/mcp/catalog.ts';
import { servedOperations } from '../../src/mcp/operations.ts';
import type { OperationTool } from '../../src/mcp/tool.ts';
import { isCallable } from '../../src/mcp/tools/operations-call.ts';
import type { Asked } from './samples.ts';

export type ToolCallOf = { readonly tool: string; readonly args: Readonly<Record<string, unknown>> };

const served = servedOperations(publishedAreas);

/** `kind`: of the caller; an agent's tools take no agent, because the token is one agent's. */
export function toolCallsOf(operation: string, asked: Asked, kind: 'key' | 'agent'): ToolCallOf[] {
  const tools = namedTools.filter((tool) => 'operation' in tool && tool.operation === operation) as OperationTool[];
  const found = served.get(operation);
  if (found === undefined) return [];
  if (tools.length > 0) return tools.filter((tool) => fits(tool, asked)).map((tool) => callOf(tool, asked, kind));
  if (!isCallable(found) || asked.text !== undefined) return [];
  const { path = {}, query, body = {} } = asked;
  const args = { operationId: operation, path, query: Object.fromEntries(new URLSearchParams(query)), body };
  return [{ tool: 'operations_call', args: { ...args, purchaseRef: 'isolation' } }];
}

/** The sample may be of another shape than the tool's. */
const fits = ({ fixed = {} }: OperationTool, { body = {} }: Asked): boolean =>
  Object.entries(fixed).every(([name, value]) => (body as Record<string, unknown>)[name] === value);

function callOf(tool: OperationTool, { path, query, body }: Asked, kind: 'key' | 'agent'): ToolCallOf {
  const hidden = [...(tool.without ?? []), ...Object.keys(tool.fixed ?? {}), tool.purchase];
  const given = { ...path, ...Object.fromEntries(new URLSearchParams(query)), ...body };
  const named = Object.entries(given)
    .filter(([name]) => !hidden.includes(name))
    .map(([name, value]) => [tool.names?.[name] ?? name, value] as const)
    .filter(([name]) => name !== 'agentId' || kind === 'key' || tool.isOwners === true);
  const purchase = tool.purchase === undefined ? {} : { purchaseRef: 'isolation' };
  return { tool: tool.name, args: { ...Object.fromEntries(named), ...purchase } };
}
