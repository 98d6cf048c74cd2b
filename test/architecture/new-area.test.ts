/**
 * Goal: a generated area compiles and is served, and a refused name changes nothing. Method: the generator runs in a
 * copy of the project.
 * @module
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { editModule, editModuleIndex, emptyModule } from '../../src/dev/area-edits.ts';
import { idPrefixOf, namesOf } from '../../src/dev/area-names.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const copied = ['src', 'activities', 'workflows', 'test', 'bench', 'docs', 'sdk/src', 'package.json', 'tsconfig.json'];
const alsoCopied = ['biome.json', 'object-getters.grit', 'openapi.json', 'events.json', 'README.md', '.gitignore'];

let copy: string;
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'bursar-new-area-'));
  await Promise.all(
    [...copied, ...alsoCopied].map((name) => cp(join(root, name), join(copy, name), { recursive: true })),
  );
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
});
afterAll(async () => {
  await rm(copy, { recursive: true });
});

const node = (...input: string[]) => promisify(execFile)(process.execPath, input, { cwd: copy });
const newArea = (...input: string[]) => node('src/dev/new-area.ts', ...input);
const textOf = (path: string): Promise<string> => readFile(join(copy, path), 'utf8');

test('the areas of two domains compile, are formatted and are published', async () => {
  const first = await newArea('merchants', 'gift-cards');
  expect(first.stdout.split('edited:')[1]?.match(/src\/\S+/g)).toEqual([
    'src/kernel/ids.ts',
    'src/events/catalog.ts',
    'src/platform/limits.ts',
    'src/main/modules/merchants.ts',
  ]);
  const second = await newArea('treasury', 'liabilities');
  expect(second.stdout.split('edited:')[1]?.match(/src\/\S+/g)).toHaveLength(4);
  await node('node_modules/typescript/bin/tsc', '--noEmit');
  await node('node_modules/@biomejs/biome/bin/biome', 'check', 'src/domains/merchants', 'src/main', 'workflows');
  const { paths }: { paths: object } = JSON.parse(await textOf('openapi.json'));
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/gift-cards/{id}/cancel', '/liabilities/{id}']));
  expect(await textOf('workflows/index.ts')).toContain('giftCardLifecycle');
  expect(await textOf('src/README.md')).toContain('`liabilityLifecycle` (`liability/{id}`)');
  expect(await textOf('docs/limits.md')).toContain('| `gift_cards` | 100 |');
}, 300_000);

test('the first area of a domain adds its module before the next domain that has one', () => {
  const index = "import { cards } from './cards.ts';\n\nexport const modules: readonly Module[] = [parties, cards];\n";
  const edited = editModuleIndex(index, 'merchants', 'cards');
  expect(edited).toContain("import { merchants } from './merchants.ts';");
  expect(edited).toContain('= [parties, merchants, cards];');
  expect(editModuleIndex(index, 'delivery', undefined)).toContain('= [parties, cards, delivery];');
  const module = editModule(emptyModule('merchants'), namesOf('merchants', 'gift-cards'), 500);
  expect(module).toMatch(/defineModule\('merchants', \[\n {2}servedArea\('gift-cards', \{/);
});

test('every generated test fails with an instruction', async () => {
  const files = ['rules/merchants/gift-card.rules', 'api/merchants/gift-cards.api'];
  for (const file of [...files, 'workflows/merchants/gift-card-lifecycle.workflow']) {
    expect(await textOf(`test/${file}.test.ts`)).toMatch(
      /throw new Error\(\s*'fill in: .{20,}; then delete this line'/,
    );
  }
});

test.each([
  [['merchants', 'gift-cards'], 'exists already'],
  [['shops', 'orders'], 'there is no domain shops; name one of identity, parties'],
  [['merchants', 'GiftVouchers'], 'an area is named by a plural in lower case'],
  [['merchants', '../escapes'], 'an area is named by a plural in lower case'],
  [['merchants'], 'an area is named by a plural in lower case'],
])('new-area %j is refused and changes nothing', async (input, why) => {
  const before = await textOf('src/kernel/ids.ts');
  await expect(newArea(...input)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(why) });
  expect(await textOf('src/kernel/ids.ts')).toBe(before);
});

test('the names of an area follow from its folder', () => {
  expect(namesOf('treasury', 'liabilities')).toMatchObject({ noun: 'liability', plural: 'liabilities' });
  expect(namesOf('cards', 'pass-throughs')).toMatchObject({ camel: 'passThrough', table: 'pass_throughs' });
  expect(namesOf('payments', 'batches')).toMatchObject({ noun: 'batch', tag: 'Batches' });
});

test('an id prefix is never one that is in use', () => {
  const names = namesOf('merchants', 'gift-cards');
  expect(idPrefixOf(names, [])).toBe('gc');
  expect(idPrefixOf(names, ['gc'])).toBe('gi');
  expect(idPrefixOf(names, ['gc', 'gi'])).toBe('gif');
  expect(idPrefixOf(namesOf('parties', 'archery-targets'), [])).toBe('ar'); // `at_` begins an agent's token.
});
