/**
 * Builds the SDK from the present contracts, as `npm pack` does, and installs its tarball in an empty folder. The sources
 * are copied first, so that a test writes nothing into the tree.
 * @module
 */
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventsDocument, openApiDocument } from '../../src/dev/documents.ts';
import { install, run } from '../third-parties/install.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sdk = join(root, 'sdk');

export type Packed = {
  /** The empty folder, with the package in its `node_modules`. */
  readonly folder: string;
  /** Compiles programs there, strictly, with the SDK's compiler; its complaints. */
  compile(): Promise<string>;
  remove(): Promise<void>;
};

export async function packSdk(): Promise<Packed> {
  await install(sdk);
  const folder = await mkdtemp(join(tmpdir(), 'bursar-sdk-'));
  const source = join(folder, 'source', 'sdk');
  const isSource = (path: string): boolean =>
    !['node_modules', 'dist', 'generated'].some((name) => path.startsWith(join(sdk, name)) || path.endsWith(name));
  await cp(sdk, source, { recursive: true, filter: isSource });
  await symlink(join(sdk, 'node_modules'), join(source, 'node_modules'));
  await cp(join(root, 'LICENSE'), join(folder, 'source', 'LICENSE'));
  await writeFile(join(folder, 'source', 'openapi.json'), JSON.stringify(openApiDocument()));
  await writeFile(join(folder, 'source', 'events.json'), JSON.stringify(eventsDocument()));
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder], source);
  if (packed.code !== 0) throw new Error(`npm pack ended so:\n${packed.output}`);

  const project = join(folder, 'project');
  await mkdir(project);
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    target: 'es2022',
    module: 'nodenext',
    types: ['node'],
    typeRoots: [join(root, 'node_modules', '@types')],
    outDir: 'built',
    rootDir: '.',
  };
  await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'empty', type: 'module', private: true }));
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const tarball = packed.output.trim().split('\n').at(-1) ?? '';
  const flags = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  const installed = await run('npm', ['install', ...flags, join(folder, tarball)], project);
  if (installed.code !== 0) throw new Error(`npm install of the tarball ended so:\n${installed.output}`);
  const compiler = join(sdk, 'node_modules/typescript/bin/tsc');
  return {
    folder: project,
    compile: async () => (await run(process.execPath, [compiler, '-p', '.'], project)).output,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
