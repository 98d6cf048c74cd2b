/** Every published operation with the samples that its area's test folder provides, and how to send a call. @module */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EventName } from '../../src/events/catalog.ts';
import { canonicalPath } from '../../src/http/openapi.ts';
import type { Area, Operation } from '../../src/http/route.ts';
import { publishedAreas } from '../../src/main/modules/index.ts';
import { AreaSamples, type Ask, type Asked, Sampler } from './samples.ts';
import { type Owner, startWorld, type World } from './world.ts';

export type PublishedOperation = {
  readonly name: string;
  readonly area: Area;
  readonly operation: Operation;
  readonly path: string;
};

export const publishedOperations: readonly PublishedOperation[] = publishedAreas.flatMap((area) =>
  Object.entries(area.operations).map(([name, operation]: [string, Operation]) => ({
    name,
    area,
    operation,
    path: canonicalPath(area, operation) || '/',
  })),
);

/** The events that a call of the operation fires, itself or by what the card network then calls. */
export function eventsOf(operation: Operation): readonly EventName[] {
  const asked = publishedOperations.filter(({ name }) => operation.networkCalls?.includes(name));
  return [operation, ...asked.map((one) => one.operation)].flatMap(({ fires }) => fires ?? []);
}

const folder = join(import.meta.dirname, '../api');

/** The `samples` that each `*.samples.ts` below test/api exports, one for each published area. */
export async function discoverSamples(): Promise<readonly AreaSamples[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.samples\.ts$/.test(file),
  );
  const found = await Promise.all(files.map((file) => samplesIn(join(folder, file))));
  return publishedAreas.map((area) => {
    const [samples, ...more] = found.filter((one) => namesOf(one.area) === namesOf(area));
    if (samples === undefined)
      throw new Error(
        `the area "${area.tag}" has no samples: add test/api/<domain>/<area>.samples.ts that exports samples = samplesOf(...)`,
      );
    if (more.length > 0) throw new Error(`the area "${area.tag}" has samples in ${more.length + 1} files`);
    return samples;
  });
}

/** Areas may share a tag; no two share an operation. */
const namesOf = ({ operations }: Area): string => Object.keys(operations).sort().join(' ');

async function samplesIn(file: string): Promise<AreaSamples> {
  const module: { samples?: unknown } = await import(pathToFileURL(file).href);
  if (!(module.samples instanceof AreaSamples)) throw new Error(`${file} does not export samples = samplesOf(...)`);
  return module.samples;
}

export type OperationsWorld = {
  readonly world: World;
  readonly owner: Owner;
  readonly sampler: Sampler;
  readonly areas: readonly AreaSamples[];
  /** By name of the operation. */
  readonly calls: Readonly<Record<string, Ask>>;
  close(): Promise<void>;
};

/** For a hook or a test whose work grows with the operations. It only decides how long one that fails takes. */
export const suiteLimitMs = 600_000;

/** An installation with its worker and one owner. */
export async function startOperationsWorld(): Promise<OperationsWorld> {
  const areas = await discoverSamples();
  const world = await startWorld({ worker: true });
  const owner = await world.owner();
  const sampler = new Sampler(world, owner);
  return { world, owner, sampler, areas, calls: callsOf(areas, sampler), close: world.close };
}

/** The sample calls of all areas, by name of the operation, and its variants under their `sampleName`. */
export function callsOf(areas: readonly AreaSamples[], sampler: Sampler): Readonly<Record<string, Ask>> {
  return Object.fromEntries([
    ...areas.flatMap((samples) => Object.entries(samples.calls(sampler))),
    ...areas.flatMap(variantsIn).map(({ sampleName, make }) => [sampleName, make(sampler)] as const),
  ]);
}

/** Every sample call: one of each operation, and the variants. */
export const samplesOfOperations = (
  areas: readonly AreaSamples[],
): readonly { readonly sampleName: string; readonly one: PublishedOperation }[] => {
  const variants = areas.flatMap(variantsIn);
  return publishedOperations.flatMap((one) => [
    { sampleName: one.name, one },
    ...variants.filter(({ name }) => name === one.name).map(({ sampleName }) => ({ sampleName, one })),
  ]);
};

const variantsIn = ({ variants }: AreaSamples) =>
  Object.entries(variants).flatMap(([name, made = {}]) =>
    Object.entries(made).map(([what, make]) => ({ name, sampleName: `${name} ${what}`, make })),
  );

/** The sample call of that name. Throws when there is none. */
export function askedOf({ calls }: Pick<OperationsWorld, 'calls'>, name: string): Promise<Asked> {
  const ask = calls[name];
  if (ask === undefined) throw new Error(`no sample call for ${name}`);
  return Promise.resolve(ask());
}

/** Sends the call with the credential that it names; `headers` are added to its own and replace them. */
export function send(
  { world, owner }: { world: World; owner: Owner },
  { operation, path }: Pick<PublishedOperation, 'operation' | 'path'>,
  asked: Asked,
  headers: Record<string, string> = {},
): Promise<Response> {
  const filled = path.replace(/\{(\w+)\}/g, (_, parameter: string) => asked.path?.[parameter] ?? 'missing');
  return fetch(`${world.apiUrl}${filled}${asked.query === undefined ? '' : `?${asked.query}`}`, {
    method: operation.method.toUpperCase(),
    headers: {
      ...credential(world, asked.by ?? owner, asked, operation),
      'Content-Type': 'application/json',
      ...asked.headers,
      ...headers,
    },
    ...(operation.method === 'get' ? {} : { body: asked.text ?? JSON.stringify(asked.body ?? {}) }),
  });
}

function credential(world: World, owner: Owner, asked: Asked, operation: Operation): Record<string, string> {
  // The sample of a merchant's operation brings its X-Merchant-Key.
  const isOthers = operation.auth.includes('network') || operation.auth.includes('merchant');
  if (asked.as === 'nobody' || isOthers) return {};
  if (asked.as === 'dashboard') return { 'X-Dashboard-Secret': world.dashboardSecret };
  return { Authorization: `Bearer ${owner.key}` };
}
