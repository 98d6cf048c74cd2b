/**
 * `npm run new-area <domain> <area>`: writes the skeleton of an area with its tests and registers it. It changes nothing
 * when a name is refused or a file exists already.
 * @module
 */
import { execFile } from 'node:child_process';
import { access, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { editCatalog, editIds, editLimits, editModule, editModuleIndex, emptyModule } from './area-edits.ts';
import { type AreaNames, domains, idPrefixOf, namesOf } from './area-names.ts';
import { filesOf, migrationOf } from './area-templates.ts';

export type NewArea = { readonly added: readonly string[]; readonly edited: readonly string[] };

/** `root`: the folder of the project. Everything is read and checked before the first file is written. */
export async function addArea(root: string, domain: string, area: string): Promise<NewArea> {
  const names = namesOf(domain, area);
  const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
  const files = filesOf(names);
  for (const path of Object.keys(files)) {
    if (await exists(join(root, path))) throw new Error(`${path} exists already; choose another name`);
  }
  const added: Record<string, string> = { ...files, [await migrationPath(root, names)]: migrationOf(names) };
  const ids = await read('src/kernel/ids.ts');
  if (new RegExp(`^  ${names.camel}: '`, 'm').test(ids))
    throw new Error(`the kind of id ${names.camel} exists already`);
  const prefixes = [...ids.matchAll(/^ {2}\w+: '(\w+)',$/gm)].map(([, prefix = '']) => prefix);
  const edited: Record<string, string> = {
    'src/kernel/ids.ts': editIds(ids, names, idPrefixOf(names, prefixes)),
    'src/events/catalog.ts': editCatalog(await read('src/events/catalog.ts'), names),
    'src/platform/limits.ts': editLimits(await read('src/platform/limits.ts'), names),
    ...(await moduleEdits(root, names)),
  };
  for (const [path, text] of Object.entries({ ...added, ...edited })) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return { added: Object.keys(added), edited: Object.keys(edited) };
}

async function moduleEdits(root: string, names: AreaNames): Promise<Record<string, string>> {
  const folder = join(root, 'src/main/modules');
  const path = `src/main/modules/${names.domain}.ts`;
  const texts = await Promise.all(
    domains.map(async (domain) => ({
      domain,
      text: await readFile(join(folder, `${domain}.ts`), 'utf8').catch(absent),
    })),
  );
  const known = texts.filter(({ text }) => text !== undefined);
  const positions = known.flatMap(({ text = '' }) =>
    [...text.matchAll(/position: (\d+)/g)].map(([, at]) => Number(at)),
  );
  const own = known.find(({ domain }) => domain === names.domain)?.text;
  const ownPositions = [...(own ?? '').matchAll(/position: (\d+)/g)]
    .map(([, at]) => Number(at))
    .filter((at) => at < 900);
  let position = Math.max(...(ownPositions.length > 0 ? ownPositions : positions.filter((at) => at < 900))) + 1;
  while (positions.includes(position)) position += 1;
  const module = { [path]: editModule(own ?? emptyModule(names.domain), names, position) };
  if (own !== undefined) return module;
  const index = 'src/main/modules/index.ts';
  const after = domains.slice(domains.indexOf(names.domain) + 1);
  const next = after.find((domain) => known.some((one) => one.domain === domain));
  return { ...module, [index]: editModuleIndex(await readFile(join(root, index), 'utf8'), names.domain, next) };
}

/** A domain without a module file has no area yet. */
function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}

async function migrationPath(root: string, { area }: AreaNames): Promise<string> {
  const folder = 'src/db/migrations';
  const files = await readdir(join(root, folder));
  if (files.some((file) => file.endsWith(`-${area}.sql`))) throw new Error(`a migration is called ${area} already`);
  const last = Math.max(...files.map((file) => Number(/^\d{4}/.exec(file)?.[0] ?? 0)));
  const number = String(Math.floor(last / 10) * 10 + 10).padStart(4, '0');
  return `${folder}/${number}-${area}.sql`;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

async function run(domain = '', area = ''): Promise<void> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const { added, edited } = await addArea(root, domain, area);
  const node = (...input: string[]) => promisify(execFile)(process.execPath, input, { cwd: root });
  const sources = [...added, ...edited].filter((path) => path.endsWith('.ts'));
  await node('node_modules/@biomejs/biome/bin/biome', 'check', '--write', ...sources);
  await node('src/dev/snapshot.ts');
  const list = (paths: readonly string[]): string => paths.map((path) => `  ${path}\n`).join('');
  process.stdout.write(
    `added:\n${list(added)}edited:\n${list(edited)}generated files are up to date; docs/adding-an-area.md tells the rest\n`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [domain, area] = process.argv.slice(2);
  await run(domain, area).catch((error: unknown) => {
    process.stderr.write(`new-area: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
