/**
 * Goal: clients generated from the document compile, strictly, and buy something. Method: each generator has a folder in
 * `clients/` with a lockfile and their own compiler; a program that knows only the generated code is compiled and run
 * against a real world. A wrong program must not compile.
 * @module
 */
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openApiDocument } from '../../src/dev/documents.ts';
import { startWorld, type World } from '../support/world.ts';
import { install, run } from './install.ts';

type Generator = {
  readonly folder: string;
  /** The command of the generator, in its `node_modules`, and its arguments. */
  readonly generate: readonly string[];
  readonly compilerOptions: readonly string[];
};
const generators: readonly Generator[] = [
  {
    folder: 'openapi-typescript',
    generate: ['openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'bursar.ts'],
    compilerOptions: [],
  },
  {
    folder: 'hey-api',
    generate: ['@hey-api/openapi-ts/bin/run.js', '-i', 'openapi.json', '-o', 'bursar', '--no-log-file'],
    // The generator's own HTTP client passes undefined to optional properties.
    compilerOptions: ['--exactOptionalPropertyTypes', 'false'],
  },
];
const clients = fileURLToPath(new URL('clients/', import.meta.url));

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: true });
}, 180_000);
afterAll(() => world.close());

describe.each(generators)('$folder', ({ folder, generate: [generator = '', ...parameters], compilerOptions }) => {
  const own = join(clients, folder);
  let dir: string;
  beforeAll(async () => {
    await install(own);
    dir = await mkdtemp(join(tmpdir(), 'bursar-client-'));
    await symlink(join(own, 'node_modules'), join(dir, 'node_modules'));
    await writeFile(join(dir, 'openapi.json'), JSON.stringify(openApiDocument()));
    await copyFile(join(clients, 'tsconfig.json'), join(dir, 'tsconfig.json'));
    await copyFile(join(own, 'package.json'), join(dir, 'package.json'));
    await copyFile(join(own, 'purchase.ts.txt'), join(dir, 'purchase.ts'));
  }, 180_000);
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const compile = () =>
    run(process.execPath, [join(own, 'node_modules/typescript/bin/tsc'), '-p', dir, ...compilerOptions], dir);

  test('the client is generated, the program compiles, and buys', async () => {
    const generated = await run(process.execPath, [join(own, 'node_modules', generator), ...parameters], dir);
    expect([generated.code, generated.output]).toEqual([0, expect.any(String)]);
    expect(await compile()).toMatchObject({ code: 0, output: '' });

    const { key } = await world.owner();
    const shop = `${world.sandboxUrl}/shops/sandbox-shop?amountCents=1250`;
    const bought = await run(process.execPath, ['built/purchase.js', world.apiUrl, key, shop], dir);
    expect(bought).toMatchObject({
      code: 0,
      output: `${JSON.stringify({ status: 'completed', amountEuros: 12.5 })}\n`,
    });

    const program = await readFile(join(dir, 'purchase.ts'), 'utf8');
    await writeFile(join(dir, 'purchase.ts'), program.replace("purpose: 'a book', ", 'colour: 1, '));
    expect((await compile()).output).toMatch(/purchase\.ts.*colour/s);
  }, 120_000);
});
