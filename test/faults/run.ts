/**
 * Plants each fault of the list in a copy of the tree and runs the tests that have to notice it. A fault that they miss
 * is a missing test. Writes the outcomes beside this file and the table of docs/testing.md. Not part of `npm test`: it
 * takes hours. `node test/faults/run.ts`, and with arguments only faults whose kind, file or harm contains one of
 * them; with `--open` only those that the last run did not find noticed.
 * @module
 */
import { spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import * as z from 'zod';
import { copyOfTree } from '../support/copy-of-tree.ts';
import type { Fault } from './fault.ts';
import { faults } from './faults.ts';
import { idOf, type Outcome, readOutcomes, renderTesting, testingPage, writeOutcomes } from './outcomes.ts';

const mostMs = 15 * 60_000;

const oneTest = z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) });
const report = z.object({
  numFailedTests: z.int(),
  numPassedTests: z.int(),
  numRuntimeErrorTestSuites: z.int(),
  testResults: z.array(z.object({ assertionResults: z.array(oneTest) })),
});

/** `by`: the tests that failed, each with the first line of its failure, so that a person sees whether they noticed the fault. */
type Run = { readonly outcome: Outcome; readonly by?: readonly string[] };

/** Of one pattern after the other, until one notices the fault. */
async function testsIn(copy: string, patterns: readonly string[], named: readonly string[]): Promise<Run> {
  const [pattern, ...others] = patterns;
  const run = pattern === undefined ? { outcome: 'did not run' as const } : await testsOf(copy, [...named, pattern]);
  return run.outcome === 'missed' && others.length > 0 ? testsIn(copy, others, named) : run;
}

async function testsOf(copy: string, asked: readonly string[]): Promise<Run> {
  const file = join(copy, 'report.json');
  await rm(file, { force: true });
  const jest = ['--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
  const child = spawn(process.execPath, [...jest, '--json', `--outputFile=${file}`, ...asked], {
    cwd: copy,
    stdio: 'ignore',
  });
  const late = setTimeout(() => child.kill('SIGTERM'), mostMs);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('exit', resolve);
  });
  clearTimeout(late);
  if (code === null) return { outcome: 'too slow' };
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return { outcome: 'did not run' };
  const { numFailedTests, numPassedTests, numRuntimeErrorTestSuites, testResults } = report.parse(JSON.parse(text));
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed');
  if (numFailedTests > 0) return { outcome: 'noticed', by: failed.map(inOneLine) };
  if (numRuntimeErrorTestSuites > 0 || numPassedTests === 0) return { outcome: 'did not run' };
  return { outcome: 'missed' };
}

const inOneLine = ({ fullName, failureMessages: [why = ''] }: z.infer<typeof oneTest>): string =>
  `${fullName}: ${stripVTControlCharacters(why).split('\n').filter(Boolean).slice(0, 4).join(' / ').slice(0, 240)}`;

async function plant(copy: string, { file, from, to, tests, named }: Fault): Promise<Run> {
  const path = join(copy, file);
  const clean = await readFile(path, 'utf8').catch(() => '');
  if (clean.split(from).length !== 2) return { outcome: 'does not fit' };
  try {
    // Not `replace` with a text: `$` means something in it.
    await writeFile(path, clean.split(from).join(to));
    return await testsIn(copy, tests, named === undefined ? [] : [`--testNamePattern=${named}`]);
  } finally {
    await writeFile(path, clean);
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const words = process.argv.slice(2);
const wanted = words.filter((word) => word !== '--open');
const known = await readOutcomes();
const isOpen = (fault: Fault): boolean => known[idOf(fault)] !== 'noticed' && fault.harmless === undefined;
const chosen = faults.filter(
  (fault) =>
    (wanted.length === 0 || wanted.some((word) => `${fault.kind} ${fault.file} ${fault.harm}`.includes(word))) &&
    (!words.includes('--open') || isOpen(fault)),
);
const copy = await copyOfTree();
try {
  for (const [index, fault] of chosen.entries()) {
    const began = Date.now();
    const { outcome, by = [] } = await plant(copy, fault);
    known[idOf(fault)] = outcome;
    const seconds = Math.round((Date.now() - began) / 1_000);
    say(`${index + 1}/${chosen.length} ${outcome} (${seconds} s) ${dirname(fault.file)}: ${fault.harm}`);
    for (const test of by) say(`  by ${test}`);
    await writeOutcomes(known);
  }
  await writeFile(testingPage, renderTesting(await readFile(testingPage, 'utf8'), known));
  const missed = chosen.filter(isOpen);
  say(`${chosen.length - missed.length} noticed or harmless, ${missed.length} to look at`);
  process.exitCode = missed.length === 0 ? 0 : 1;
} finally {
  await rm(copy, { recursive: true, force: true });
}
