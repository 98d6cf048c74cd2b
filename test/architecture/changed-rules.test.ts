/** The list of changed rules fits the code, and docs/testing.md shows the outcome of each file. @module */
import { globSync } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { accepted } from '../mutation/accepted.ts';
import { mutatedFiles, tables, testFileOf } from '../mutation/files.ts';
import { inOneLine, readOutcomes, renderTable, testingPage } from '../mutation/outcomes.ts';

const root = new URL('../../', import.meta.url);

test('each file and each of its tests is there', async () => {
  for (const { file, tests } of mutatedFiles)
    for (const path of [file, ...tests.map(testFileOf)]) await access(new URL(path, root));
  expect(new Set(mutatedFiles.map(({ file }) => file)).size).toBe(mutatedFiles.length);
});

test('each file of rules and of signatures is changed, or named with the reason why it is not', () => {
  const found = globSync('src/**/*.{rules,signature}.ts', { cwd: fileURLToPath(root) });
  const listed = [...mutatedFiles.map(({ file }) => file), ...Object.keys(tables)];
  expect(found.filter((file) => !listed.includes(file))).toEqual([]);
  expect(Object.keys(tables).filter((file) => !found.includes(file))).toEqual([]);
});

test('each change that is accepted can still be made, and has a reason', async () => {
  for (const { file, why, changes } of accepted) {
    const source = inOneLine(await readFile(new URL(file, root), 'utf8'));
    expect(changes.filter(({ from }) => !source.includes(from))).toEqual([]);
    expect(why.length).toBeGreaterThan(20);
  }
});

test('docs/testing.md shows the outcomes', async () => {
  const page = await readFile(testingPage, 'utf8');
  expect(page).toBe(renderTable(page, await readOutcomes()));
});
