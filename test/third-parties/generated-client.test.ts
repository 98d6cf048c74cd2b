/**
 * Goal: a client generated from the document compiles, strictly, and buys something. Method: `openapi-typescript` and
 * its compiler, which live in `client/` with a lockfile of their own; the program is checked and run against a real
 * world. A wrong program must not compile.
 * @module
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openApiDocument } from '../../src/dev/documents.ts';
import { startWorld, type World } from '../support/world.ts';

const client = fileURLToPath(new URL('client/', import.meta.url));
const generator = join(client, 'node_modules', 'openapi-typescript', 'bin', 'cli.js');
const compiler = join(client, 'node_modules', 'typescript', 'bin', 'tsc');

let dir: string;
let world: World;
beforeAll(async () => {
  const installed = join(client, 'node_modules', '.package-lock.json');
  if (!existsSync(installed)) {
    const { code, output } = await run('npm', ['ci', '--prefix', client, '--no-audit', '--no-fund'], client);
    if (code !== 0) throw new Error(`the generator cannot be installed: npm ci in ${client} ended so:\n${output}`);
  }
  dir = await mkdtemp(join(tmpdir(), 'bursar-client-'));
  await symlink(join(client, 'node_modules'), join(dir, 'node_modules'));
  await writeFile(join(dir, 'openapi.json'), JSON.stringify(openApiDocument()));
  for (const file of ['package.json', 'tsconfig.json']) await copyFile(join(client, file), join(dir, file));
  await copyFile(join(client, 'purchase.ts.txt'), join(dir, 'purchase.ts'));
  world = await startWorld({ worker: true });
}, 180_000);
afterAll(async () => {
  await world.close();
  await rm(dir, { recursive: true, force: true });
});

test('the types are generated, the program compiles, and buys', async () => {
  const generated = await run(process.execPath, [generator, 'openapi.json', '-o', 'bursar.ts'], dir);
  expect([generated.code, generated.output]).toEqual([0, expect.any(String)]);
  const compiled = await run(process.execPath, [compiler, '-p', dir], dir);
  expect([compiled.code, compiled.output]).toEqual([0, '']);

  const { key } = await world.owner();
  const shop = `${world.sandboxUrl}/shops/sandbox-shop?amountCents=1250`;
  const bought = await run(process.execPath, ['purchase.ts', world.apiUrl, key, shop], dir);
  expect(bought).toEqual({ code: 0, output: `${JSON.stringify({ status: 'completed', amountEuros: 12.5 })}\n` });

  const program = await readFile(join(dir, 'purchase.ts'), 'utf8');
  await writeFile(join(dir, 'purchase.ts'), program.replace("purpose: 'a book', ", 'colour: 1, '));
  expect((await run(process.execPath, [compiler, '-p', dir], dir)).output).toMatch(/purchase\.ts.*colour/s);
}, 60_000);

/** What it said, both streams. */
function run(command: string, args: readonly string[], cwd: string): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: `${stdout}${stderr}` });
    });
  });
}
