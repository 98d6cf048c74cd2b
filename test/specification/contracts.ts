/** Looks a fact up in the published interface. Answers what is wrong, or nothing. @module */

import { openApiDocument } from '../../src/dev/documents.ts';
import { eventCatalog } from '../../src/events/catalog.ts';
import type { Claim, Shape } from './facts.ts';

type Json = { readonly [key: string]: Json } | readonly Json[] | string | number | boolean | null;
type Fields = { readonly [key: string]: Json };
type Operation = {
  readonly tags: readonly string[];
  readonly parameters: readonly { name: string; in: string; required: boolean }[];
  readonly requestBody?: Json;
  readonly responses: Fields;
  readonly 'x-aliases': readonly string[];
};
type Document = {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Fields; readonly headers: Readonly<Record<string, Fields>> };
};

export const document = JSON.parse(JSON.stringify(openApiDocument())) as Document;
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

/** Areas of which something is served. */
export const servedAreas: ReadonlySet<string> = new Set(operations.flatMap(({ tags }) => tags));

export function problemOf(claim: Claim, area: string): string | undefined {
  switch (claim.kind) {
    case 'said':
      return undefined;
    case 'area':
      return servedAreas.has(area) ? undefined : `no operation has the tag ${area}`;
    case 'path':
      return document.paths[claim.path]?.[claim.method] === undefined ? 'no such operation' : undefined;
    case 'event': {
      const entry: { extension?: true } | undefined = (eventCatalog as Record<string, { extension?: true }>)[
        claim.name
      ];
      return entry === undefined || entry.extension === true ? 'not in the catalog as one of these' : undefined;
    }
    case 'alias': {
      const isServed = operations.some(({ 'x-aliases': paths }) => paths.some((path) => path.startsWith(claim.path)));
      return isServed ? undefined : 'no operation has this alias';
    }
    case 'field':
      return fieldProblem(claim.shape);
    default:
      return operationProblem(claim);
  }
}

function operationProblem(claim: Extract<Claim, { operation: string }>): string | undefined {
  const operation = operationOf(claim.operation);
  if (operation === undefined) return `no operation ${claim.operation}`;
  const statuses = Object.keys(operation.responses).map(Number);
  switch (claim.kind) {
    case 'status':
      return statuses.includes(claim.status) ? undefined : `answers ${statuses.join(', ')} only`;
    case 'refusals':
      return statuses.filter((status) => status >= 400).length >= claim.atLeast ? undefined : 'too few refusals';
    case 'header': {
      const header = operation.parameters.find((one) => one.in === 'header' && one.name === claim.name);
      if (header === undefined) return 'no such header';
      return header.required === claim.isRequired ? undefined : `required: ${header.required}`;
    }
    case 'body':
      return names(operation.requestBody ?? null).has(claim.name) ? undefined : 'no such field in the request';
    case 'answer': {
      const done = Object.entries(operation.responses).find(([status]) => Number(status) < 300);
      return names(done?.[1] ?? null).has(claim.name) ? undefined : 'no such field in the answer';
    }
  }
}

/** Every property name in a schema, at any depth and behind references. */
function names(value: Json, seen = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return seen;
  for (const [key, inner] of Object.entries(value)) {
    const [, component] = key === '$ref' ? (/^#\/components\/schemas\/(.+)$/.exec(String(inner)) ?? []) : [];
    if (component !== undefined) names(document.components.schemas[component] ?? null, seen);
    else if (key === 'properties') for (const name of Object.keys(inner as Fields)) seen.add(name);
    names(inner, seen);
  }
  return seen;
}

/** Where a field of a request stands: its name and those of the objects around it. */
export const requestPath = (operation: string, name: string): string[] => pathTo(bodyOf(operation), name) ?? [name];

function bodyOf(operation: string): Json {
  const body = operationOf(operation)?.requestBody as { content: { 'application/json': { schema: Json } } } | undefined;
  return body?.content['application/json'].schema ?? null;
}

function operationOf(name: string): Operation | undefined {
  const [method = '', path = ''] = name.split(' ');
  return document.paths[path]?.[method.toLowerCase()];
}

function pathTo(schema: Json, name: string): string[] | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const {
    $ref,
    anyOf = [],
    properties = {},
  } = schema as { $ref?: string; anyOf?: readonly Json[]; properties?: Fields };
  if (name in properties) return [name];
  const component = $ref === undefined ? null : (document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? null);
  for (const same of [component, ...anyOf]) {
    const found = pathTo(same, name);
    if (found !== undefined) return found;
  }
  for (const [outer, inner] of Object.entries(properties)) {
    const found = pathTo(inner, name);
    if (found !== undefined) return [outer, ...found];
  }
  return undefined;
}

/** The request of `POST /policies` has the name of its operation, every other shape the name in the specification. */
function schemaNamed(name: string): Fields | undefined {
  const found = document.components.schemas[name === 'PolicyCreateRequest' ? 'CreatePolicyInput' : name];
  return found as Fields | undefined;
}

function fieldProblem({ schema, name, type, nullable, constraint }: Shape): string | undefined {
  const found = schemaNamed(schema);
  const property = (found?.properties as Fields | undefined)?.[name] as Fields | undefined;
  if (found === undefined || property === undefined) return `no field ${name} in ${schema}`;
  const branches = [property, ...((property.anyOf ?? []) as readonly Fields[])];
  const types = branches.flatMap((branch) => branch.type ?? []).flat() as string[];
  if (nullable === true && !types.includes('null')) return 'must be nullable';
  if (type !== undefined && !fits(type, types, branches)) return `has the types ${types.join(', ')}`;
  if (constraint === undefined) return undefined;
  const isKept = (found.required as readonly string[] | undefined)?.includes(name);
  if (constraint === 'required') return isKept === true ? undefined : 'not required';
  return branches.some((branch) => keeps(branch, constraint)) ? undefined : `does not say ${constraint}`;
}

function fits(wanted: string, types: readonly string[], branches: readonly Fields[]): boolean {
  if (wanted === 'array of string') {
    return branches.some(
      ({ type, items }) => type === 'array' && resolved(items as Fields | undefined)?.type === 'string',
    );
  }
  if (wanted === 'string, date-time') return branches.some(({ format }) => format === 'date-time');
  return types.includes(wanted);
}

/** The schema itself, also where it stands under a name: a list's items may be a named enum. */
function resolved(schema: Fields | undefined): Fields | undefined {
  const name = typeof schema?.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined;
  return name === undefined ? schema : (document.components.schemas[name] as Fields | undefined);
}

function keeps(branch: Fields, constraint: string): boolean {
  const [, bound, value] = /^(minLength|minimum) (\d+)$/.exec(constraint) ?? [];
  if (bound !== undefined) return branch[bound] === Number(value);
  const [, low, high] = /^(\d+) to (\d+)$/.exec(constraint) ?? [];
  if (low !== undefined) return branch.minimum === Number(low) && branch.maximum === Number(high);
  const [, choices] = /^one of (.+)$/.exec(constraint) ?? [];
  if (choices === undefined) throw new Error(`a constraint that is not known: ${constraint}`);
  const values = (branch.enum ?? []) as readonly string[];
  return choices.split(', ').every((choice) => values.includes(choice)) && values.length === choices.split(', ').length;
}
