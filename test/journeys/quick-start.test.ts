/** The quick start of README.md as a stranger types it: each printed command in a shell, and what the README shows. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { printedCommands, recordedRun, runQuickStart } from '../../src/dev/quick-start.ts';
import { installationFolder } from '../support/installation.ts';

let folder: Awaited<ReturnType<typeof installationFolder>>;
beforeAll(async () => {
  folder = await installationFolder();
});
afterAll(() => folder.remove());

/** What comes first in the same millisecond is not the same each time. */
const withoutBranches = (line: string): string => line.replace(/^[├└│─ ]+/, '');

test('from nothing to an agent that paid: the printed commands do what the README shows', async () => {
  const recorded = await recordedRun();
  expect(recorded.map(({ command }) => command)).toEqual(await printedCommands());
  expect(recorded.length).toBeLessThanOrEqual(4);
  const story = recorded.at(-1)?.lines.map(withoutBranches) ?? [];
  expect(story.length).toBeGreaterThan(10);

  const { seen } = await runQuickStart(folder.dir, (lines) => {
    const told = new Set(lines.map(withoutBranches));
    return story.every((line) => told.has(line));
  });
  expect(seen.slice(0, -1)).toEqual(recorded.slice(0, -1));
}, 480_000);
