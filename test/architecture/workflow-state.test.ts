/**
 * Goal: no run sees the state of another. Method: the modules of `workflows/` are loaded once for all runs of a worker,
 * so their top level may hold nothing that changes; what one run keeps is in `workflows/lib/run-state.ts`.
 * @module
 */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const folder = fileURLToPath(new URL('../../workflows/', import.meta.url));

/** A variable, a collection, a queue or an object's state at the beginning of a line. */
const changing = /^(export )?(let |var |const [^=]+ = (new (Map|Set|WeakMap|WeakSet|Array)\b|create\w+\(|\[\];|\{\};))/;

test('the pattern finds what changes, and nothing else', () => {
  const found = ['let count = 0;', 'const seen = new Map();', 'export const queue = createQueue();', 'const all = [];'];
  const passed = ['const gapMs = (n: number) => n;', 'const names = ["a"];', "const wake = defineSignal('wake');"];
  expect([...found, ...passed].filter((line) => changing.test(line))).toEqual(found);
});

test('no workflow module has state of a run', async () => {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(15);
  const lines = await Promise.all(
    files.map(async (file) =>
      (await readFile(`${folder}${file}`, 'utf8'))
        .split('\n')
        .filter((line) => changing.test(line))
        .map((line) => `${file}: ${line}`),
    ),
  );
  expect(lines.flat()).toEqual([]);
});
