/**
 * Makes `dist/` from the published interface: types by openapi-typescript, a method for each operation, a class for each
 * error code, the events; then compiles. Nothing of an area is written by hand, so a new area needs no change here.
 */
import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import openapiTS, { astToString } from 'openapi-typescript';

const here = (path) => new URL(path, import.meta.url);
const json = async (path) => JSON.parse(await readFile(here(path), 'utf8'));
const document = await json('../openapi.json');
const events = await json('../events.json');

const lastPart = (ref) => ref.split('/').at(-1);
const resolved = (schema) => (schema.$ref === undefined ? schema : document.components.schemas[lastPart(schema.$ref)]);
const camel = (tag) =>
  tag
    .replace(/[^A-Za-z0-9]+(.)/g, (_, first) => first.toUpperCase())
    .replace(/^[A-Z]+/, (start) => start.toLowerCase());
const pascal = (name) => camel(name).replace(/^./, (first) => first.toUpperCase());

/** All names that a body may have, in any of its forms. */
function namesOf(schema) {
  const { properties = {}, anyOf = [], oneOf = [], allOf = [] } = resolved(schema);
  return [...Object.keys(properties), ...[...anyOf, ...oneOf, ...allOf].flatMap(namesOf)];
}

/** What only the card network calls, with its signature, is no method. */
const isCallable = ({ security = [] }) =>
  security.length === 0 || security.some((one) => !Object.hasOwn(one, 'network'));

function described(path, method, operation) {
  const { operationId: name, tags, summary, parameters = [], requestBody, responses, security = [] } = operation;
  const placedIn = (place) => parameters.filter((one) => one.in === place);
  const [pathNames, queryNames] = ['path', 'query'].map((place) => placedIn(place).map((one) => one.name));
  const body = requestBody?.content['application/json'].schema;
  const bodyNames = body === undefined ? [] : namesOf(body);
  const clash = [...pathNames, ...queryNames].find(
    (one, at, all) => bodyNames.includes(one) || all.indexOf(one) !== at,
  );
  if (clash !== undefined) throw new Error(`${name} has two parameters ${clash}; its method could not tell them apart`);
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const contents = successes.flatMap(([status, { content }]) =>
    content?.['application/json'] === undefined ? [] : [{ status, schema: content['application/json'].schema }],
  );
  const isStream = contents.length === 0 && successes.some(([, { content }]) => content !== undefined);
  const isPaged =
    queryNames.includes('cursor') &&
    contents.some(({ schema }) => resolved(schema).properties?.nextCursor !== undefined);
  const needsParams =
    pathNames.length > 0 || placedIn('query').some((one) => one.required) || requestBody?.required === true;
  return {
    name,
    summary,
    tag: tags[0],
    route: `${method.toUpperCase()} ${path}`,
    needsParams,
    takesParams: pathNames.length + queryNames.length > 0 || body !== undefined,
    successes: contents.map(({ status }) => status),
    isStream,
    isPaged,
    row: {
      area: camel(tags[0]),
      method: method.toUpperCase(),
      path,
      query: queryNames,
      body: body === undefined ? 'none' : requestBody.required === true ? 'required' : 'optional',
      usesToken: security.some((one) => Object.hasOwn(one, 'key') || Object.hasOwn(one, 'agent')),
      isKeyed: placedIn('header').some((one) => one.name === 'Idempotency-Key'),
      isPaged,
      isJson: !isStream,
    },
  };
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, operation]) => operation.operationId !== undefined && isCallable(operation))
    .map(([method, operation]) => described(path, method, operation)),
);

function resultOf({ name, successes, isStream, isPaged }) {
  if (isStream) return 'Promise<Response>';
  if (successes.length === 0) return 'Promise<void>';
  const answer = successes.map((status) => `Answer<'${name}', ${status}>`).join(' | ');
  return isPaged ? `Pages<${answer}>` : `Promise<${answer}>`;
}

const signature = (operation) => `  /** ${operation.summary.replaceAll('*/', '')}: \`${operation.route}\` */
  ${operation.name}(params${operation.needsParams ? '' : '?'}: ${operation.takesParams ? `Params<'${operation.name}'>` : 'NoParams'}, options?: CallOptions): ${resultOf(operation)};`;

function areas() {
  const found = new Map();
  for (const one of operations) found.set(one.row.area, [...(found.get(one.row.area) ?? []), one]);
  const interfaces = [...found].map(([area, members]) => {
    const { description = '' } = document.tags.find((tag) => tag.name === members[0].tag) ?? {};
    return `/** ${description.replaceAll('*/', '')} */\nexport interface ${pascal(area)}Area {\n${members.map(signature).join('\n')}\n}`;
  });
  const all = [...found.keys()].map((area) => `  readonly ${area}: ${pascal(area)}Area;`);
  return `${interfaces.join('\n\n')}\n\nexport interface Areas {\n${all.join('\n')}\n}`;
}

/** Every code of every refusal, wherever the document says it. */
function codesIn(value, found = new Map()) {
  if (typeof value !== 'object' || value === null) return found;
  for (const code of value['X-Service-Error-Code']?.schema?.enum ?? []) found.set(code, undefined);
  for (const one of Object.values(value)) codesIn(one, found);
  return found;
}

const classOf = (code) => `${pascal(code.replace(/^E_/, '').toLowerCase())}Error`;

function errorClasses() {
  const codes = [...codesIn({ paths: document.paths, responses: document.components.responses }).keys()].sort();
  const classes = codes.map(
    (code) => `export class ${classOf(code)} extends RefusedError {
  override readonly name = '${classOf(code)}';
  declare readonly code: '${code}';
}`,
  );
  const table = codes.map((code) => `  ${code}: ${classOf(code)},`);
  return `${classes.join('\n\n')}\n\nexport const errorClasses = {\n${table.join('\n')}\n};`;
}

const operationsModule = `// Generated from openapi.json by build.mjs.
import { RefusedError } from '../errors.ts';
import type { Pages } from '../pages.ts';
import type { CallOptions } from '../send.ts';
import type { operations as Contracts } from './schema.ts';

type Given<Part> = [NonNullable<Part>] extends [never] ? unknown : NonNullable<Part>;
type Json<Part> = Part extends { content: { 'application/json': infer Body } } ? Body : unknown;
/** Path, query and body of an operation in one object. */
export type Params<Name extends keyof Contracts> = Given<Contracts[Name]['parameters']['path']> &
  Given<Contracts[Name]['parameters']['query']> &
  Json<Given<Contracts[Name]['requestBody']>>;
/** Of an operation that takes nothing. */
export type NoParams = Readonly<Record<string, never>>;
type Answer<Name extends keyof Contracts, Status> = Status extends keyof Contracts[Name]['responses']
  ? Json<Contracts[Name]['responses'][Status]>
  : never;

export type Operation = {
  readonly area: string;
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  readonly body: 'none' | 'optional' | 'required';
  readonly usesToken: boolean;
  readonly isKeyed: boolean;
  readonly isPaged: boolean;
  readonly isJson: boolean;
};

${areas()}

export const operations: Readonly<Record<string, Operation>> = {
${operations.map(({ name, row }) => `  ${name}: ${JSON.stringify(row)},`).join('\n')}
};

${errorClasses()}
`;

const eventSchemas = Object.fromEntries(Object.entries(events).map(([name, { data }]) => [name, data]));
const eventsModule = `${astToString(await openapiTS({ openapi: '3.1.1', info: { title: 'events', version: '1' }, components: { schemas: eventSchemas } }))}
/** What an event of each name carries. */
export type EventData = components['schemas'];
`;

await rm(here('dist'), { recursive: true, force: true });
await mkdir(here('src/generated'), { recursive: true });
await writeFile(here('src/generated/schema.ts'), astToString(await openapiTS(document, { defaultNonNullable: false })));
await writeFile(here('src/generated/operations.ts'), operationsModule);
await writeFile(here('src/generated/events.ts'), eventsModule);
await copyFile(here('../LICENSE'), here('LICENSE'));
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
execFileSync(process.execPath, [tsc, '-p', '.'], { cwd: here('.'), stdio: ['ignore', 2, 2] });
