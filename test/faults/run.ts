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
import * as z from 'zod';
import { copyOfTree } from '../support/copy-of-tree.ts';
import type { Fault } from './fault.ts';
import { faults } from './faults.ts';
import { idOf, type Outcome, readOutcomes, renderTesting, testingPage, writeOutcomes } from './outcomes.ts';

const mostMs = 15 * 60_000;

const report = z.object({ numFailedTests: z.int(), numPassedTests: z.int(), numRuntimeErrorTestSuites: z.int() });

/** Of one pattern after the other, until one notices the fault. */
async function testsIn(copy: string, patterns: readonly string[], named: readonly string[]): Promise<Outcome> {
  const [pattern, ...others] = patterns;
  const outcome = pattern === undefined ? 'did not run' : await testsOf(copy, [...named, pattern]);
  return outcome === 'missed' && others.length > 0 ? testsIn(copy, others, named) : outcome;
}

async function testsOf(copy: string, asked: readonly string[]): Promise<Outcome> {
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
  if (code === null) return 'too slow';
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return 'did not run';
  const { numFailedTests, numPassedTests, numRuntimeErrorTestSuites } = report.parse(JSON.parse(text));
  if (numFailedTests > 0) return 'noticed';
  if (numRuntimeErrorTestSuites > 0 || numPassedTests === 0) return 'did not run';
  return 'missed';
}

async function plant(copy: string, { file, from, to, tests, named }: Fault): Promise<Outcome> {
  const path = join(copy, file);
  const clean = await readFile(path, 'utf8').catch(() => '');
  if (clean.split(from).length !== 2) return 'does not fit';
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
    const outcome = await plant(copy, fault);
    known[idOf(fault)] = outcome;
    const seconds = Math.round((Date.now() - began) / 1_000);
    say(`${index + 1}/${chosen.length} ${outcome} (${seconds} s) ${dirname(fault.file)}: ${fault.harm}`);
    await writeOutcomes(known);
  }
  await writeFile(testingPage, renderTesting(await readFile(testingPage, 'utf8'), known));
  const missed = chosen.filter(isOpen);
  say(`${chosen.length - missed.length} noticed or harmless, ${missed.length} to look at`);
  process.exitCode = missed.length === 0 ? 0 : 1;
} finally {
  await rm(copy, { recursive: true, force: true });
}
