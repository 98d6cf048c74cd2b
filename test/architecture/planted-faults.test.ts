/** The list of planted faults fits the code: each fault can be planted, and docs/testing.md shows its outcome. @module */
import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { faultKinds } from '../faults/fault.ts';
import { faults } from '../faults/faults.ts';
import { idOf, readOutcomes, renderTesting, testingPage } from '../faults/outcomes.ts';

const root = new URL('../../', import.meta.url);

test('each fault changes exactly one place of its file', async () => {
  const wrong = await Promise.all(
    faults.map(async ({ file, from, to }) => {
      const places = (await readFile(new URL(file, root), 'utf8')).split(from).length - 1;
      return places === 1 && from !== to ? [] : [`${file}: ${places} × ${from}`];
    }),
  );
  expect(wrong.flat()).toEqual([]);
});

test('there are at least 100 faults, ten of each kind, and none twice', () => {
  const counts = faultKinds.map((kind) => faults.filter((fault) => fault.kind === kind).length);
  expect(faults.length).toBeGreaterThanOrEqual(100);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(10);
  expect(new Set(faults.map(idOf)).size).toBe(faults.length);
});

test('docs/testing.md shows the outcome of each', async () => {
  const page = await readFile(testingPage, 'utf8');
  expect(page).toBe(renderTesting(page, await readOutcomes()));
});
