/**
 * `npm run mutation`: Stryker changes each expression of the pure rules and runs the tests of test/rules that execute it.
 * A change that they miss is a missing test, or one that nobody can notice (`accepted.ts`). Writes outcomes.json and the
 * table of docs/testing.md. `npm run mutation -- money increment`: only files whose path contains one of the words;
 * `--table` writes only the table, as after a change of `accepted.ts`. Not part of `npm test`.
 * @module
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { copyOfTree } from '../support/copy-of-tree.ts';
import { install, run } from '../third-parties/install.ts';
import { type MutatedFile, mutatedFiles, testFileOf } from './files.ts';
import {
  type FileOutcome,
  inOneLine,
  readOutcomes,
  renderTable,
  testingPage,
  whyAccepted,
  writeOutcomes,
} from './outcomes.ts';

const folder = fileURLToPath(new URL('./stryker/', import.meta.url));
const stryker = join(folder, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');

const position = z.object({ line: z.int(), column: z.int() });
const report = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.string(),
      mutants: z.array(
        z.object({
          replacement: z.string().optional(),
          status: z.string(),
          location: z.object({ start: position, end: position }),
        }),
      ),
    }),
  ),
});
type Mutant = z.infer<typeof report>['files'][string]['mutants'][number];

const jestConfig = (tests: readonly string[]): object => ({
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: tests.map((test) => `<rootDir>/${testFileOf(test)}`),
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  setupFilesAfterEnv: ['<rootDir>/test/support/setup.ts'],
});

const strykerConfig = (file: string): object => ({
  testRunner: 'jest',
  jest: { projectType: 'custom', configFile: 'mutation.jest.json', enableFindRelatedTests: false },
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  coverageAnalysis: 'perTest',
  mutate: [file],
  // The copy is changed, not a copy of it. Each change is in the file at once; a variable of the process chooses one.
  inPlace: true,
  // It names no file: Stryker reads it with TypeScript's interface of before version 7.
  tsconfigFile: 'none.json',
  concurrency: Number(process.env.MUTATION_PROCESSES ?? 2),
  // Each run of the tests leaves its modules in the memory of its process.
  maxTestRunnerReuse: 60,
  // A change that makes a loop endless is noticed by this limit; a busy machine must not be taken for one.
  timeoutMS: 60_000,
  timeoutFactor: 3,
  reporters: ['json'],
  jsonReporter: { fileName: 'mutation.json' },
  allowConsoleColors: false,
  logLevel: 'error',
});

async function outcomeOf(copy: string, { file, tests }: MutatedFile): Promise<FileOutcome> {
  await writeFile(join(copy, 'mutation.jest.json'), JSON.stringify(jestConfig(tests)));
  await writeFile(join(copy, 'stryker.config.json'), JSON.stringify(strykerConfig(file)));
  const { code, output } = await run(process.execPath, [stryker, 'run', 'stryker.config.json'], copy);
  if (code !== 0) throw new Error(`Stryker ended with ${code} for ${file}:\n${output}`);
  const { files } = report.parse(JSON.parse(await readFile(join(copy, 'mutation.json'), 'utf8')));
  const [changed] = Object.values(files);
  if (changed === undefined) throw new Error(`Stryker changed nothing in ${file}`);
  const missed = changed.mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  return {
    changes: changed.mutants.length,
    late: changed.mutants.filter(({ status }) => status === 'Timeout').length,
    missed: missed.map((mutant) => shown(changed.source, mutant)),
  };
}

/** The line before and after the change. */
function shown(source: string, { location: { start, end }, replacement = '' }: Mutant): { from: string; to: string } {
  const lines = source.split('\n');
  const first = lines[start.line - 1] ?? '';
  const last = lines[end.line - 1] ?? '';
  const before = first.slice(0, start.column - 1);
  const original = lines.slice(start.line - 1, end.line).join('\n');
  return { from: inOneLine(original), to: inOneLine(before + replacement + last.slice(end.column - 1)) };
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const isTableOnly = process.argv.includes('--table');
const chosen = mutatedFiles.filter(({ file }) => words.length === 0 || words.some((word) => file.includes(word)));

if (!isTableOnly) process.exitCode = (await changeAll()) === 0 ? 0 : 1;
await writeFile(testingPage, renderTable(await readFile(testingPage, 'utf8'), await readOutcomes()));

/** How many changes are to be looked at. */
async function changeAll(): Promise<number> {
  await install(folder, '--ignore-scripts');
  const copy = await copyOfTree((path) => /^(src|activities|workflows|test\/(rules|support)|package\.json)/.test(path));
  let open = 0;
  try {
    for (const test of new Set(chosen.flatMap(({ tests }) => tests))) await withFewerRuns(join(copy, testFileOf(test)));
    for (const one of chosen) open += await change(copy, one);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
  return open;
}

/** Each change runs the tests again, so properties try a hundred random cases; what these miss counts as missed. */
async function withFewerRuns(file: string): Promise<void> {
  const source = await readFile(file, 'utf8');
  await writeFile(file, source.replaceAll(/numRuns: \d[\d_]{2,}/g, 'numRuns: 100'));
}

async function change(copy: string, one: MutatedFile): Promise<number> {
  const began = Date.now();
  const outcome = await outcomeOf(copy, one);
  await writeOutcomes({ ...(await readOutcomes()), [one.file]: outcome });
  const { changes, missed } = outcome;
  const toLookAt = missed.filter((change) => whyAccepted(one.file, change) === undefined);
  const seconds = Math.round((Date.now() - began) / 1_000);
  say(`${one.file}: ${changes} changes, ${missed.length} missed, ${toLookAt.length} to look at (${seconds} s)`);
  for (const { from, to } of toLookAt) say(`  - ${from}\n  + ${to}`);
  return toLookAt.length;
}
