/**
 * Ends every test run with one line that counts the tests. A file that could not run counts as a failure. A run of all
 * tests also fails when no test provoked a refusal or an event that an operation declares, or when an operation answered
 * a refusal or fired an event that it does not declare, and a run with `CI` set for each skipped test that may-skip.mts does not list.
 * `TEST_COUNTS_FILE` receives the counts for run-all.ts.
 * @module
 */
import { writeFileSync } from 'node:fs';
import { contractFaults } from './answers.ts';
import { maySkip } from './may-skip.mts';

/** Of Jest's global configuration: what leaves tests out. */
type RunConfig = {
  readonly testPathPatterns: { readonly patterns: readonly string[] };
  readonly testNamePattern?: string;
  readonly onlyChanged?: boolean;
  readonly onlyFailures?: boolean;
  readonly shard?: object;
};

/** Of Jest's results: what is counted. */
type RunResults = Record<
  'numPendingTests' | 'numTodoTests' | 'numFailedTests' | 'numRuntimeErrorTestSuites' | 'numPassedTests',
  number
> & { readonly testResults: readonly FileResults[] };
type FileResults = {
  readonly testFilePath: string;
  readonly testResults: readonly { readonly status: string; readonly fullName: string }[];
};

// biome-ignore lint/style/noDefaultExport: Jest takes the default export only
export default class CountReporter {
  readonly #config: RunConfig;
  #error: Error | undefined;

  constructor(config: RunConfig) {
    this.#config = config;
  }

  async onRunComplete(_contexts: unknown, results: RunResults): Promise<void> {
    const skipped = results.numPendingTests + results.numTodoTests;
    const faults = await this.faults(results.testResults);
    if (faults.length > 0) {
      this.#error = new Error(faults.join('\n'));
      process.stderr.write(`${this.#error.message}\n`);
    }
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + faults.length;
    const passed = results.numPassedTests;
    if (process.env.TEST_COUNTS_FILE !== undefined)
      writeFileSync(process.env.TEST_COUNTS_FILE, JSON.stringify({ passed, failed, skipped }));
    const counts = [`${passed} passed`, `${failed} failed`];
    if (skipped > 0) counts.push(`${skipped} skipped`);
    process.stdout.write(`${counts.join(', ')}\n`);
  }

  /** A sentence for each; each counts as a failed test. */
  async faults(files: readonly FileResults[]): Promise<string[]> {
    const answers = process.env.TEST_ANSWERS;
    const isCompared = answers !== undefined && isWhole(this.#config);
    return [...(isCompared ? await contractFaults(answers) : []), ...this.#unlistedSkips(files)];
  }

  #unlistedSkips(files: readonly FileResults[]): string[] {
    if (!process.env.CI || this.#config.testNamePattern) return [];
    const isListed = (path: string, fullName: string): boolean =>
      maySkip.some(({ file, name }) => file.test(path) && (name === undefined || name.test(fullName)));
    return files.flatMap(({ testFilePath, testResults }) =>
      testResults
        .filter(({ status }) => status === 'pending' || status === 'todo')
        .filter(({ fullName }) => !isListed(testFilePath, fullName))
        .map(({ fullName }) => `skipped, but not in test/support/may-skip.mts: ${testFilePath} ${fullName}`),
    );
  }

  getLastError(): Error | undefined {
    return this.#error;
  }
}

/** Nothing was left out by a path, a name, a shard, or because it had not changed. */
const isWhole = ({ testPathPatterns, testNamePattern, onlyChanged, onlyFailures, shard }: RunConfig): boolean =>
  testPathPatterns.patterns.length === 0 && !testNamePattern && !onlyChanged && !onlyFailures && !shard;
