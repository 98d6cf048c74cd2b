/**
 * Ends every test run with one line that counts the tests. A file that could not run counts as a failure. A run of all
 * tests also fails when no test provoked a refusal that an operation declares, and a run with `CI` set for each skipped
 * test that may-skip.mjs does not list.
 * `TEST_COUNTS_FILE` receives the counts for run-all.ts.
 * @module
 */
import { writeFileSync } from 'node:fs';
import { eventFaults, neverSeen } from './answers.ts';
import { maySkip } from './may-skip.mjs';

// biome-ignore lint/style/noDefaultExport: Jest takes the default export only
export default class CountReporter {
  constructor(config) {
    this.config = config;
  }

  async onRunComplete(_contexts, results) {
    const skipped = results.numPendingTests + results.numTodoTests;
    const faults = [...(await this.unseenRefusals()), ...this.unlistedSkips(results.testResults)];
    await this.listEvents();
    if (faults.length > 0) {
      this.error = new Error(faults.join('\n'));
      process.stderr.write(`${this.error.message}\n`);
    }
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + faults.length;
    const passed = results.numPassedTests;
    if (process.env.TEST_COUNTS_FILE !== undefined)
      writeFileSync(process.env.TEST_COUNTS_FILE, JSON.stringify({ passed, failed, skipped }));
    const counts = [`${passed} passed`, `${failed} failed`];
    if (skipped > 0) counts.push(`${skipped} skipped`);
    process.stdout.write(`${counts.join(', ')}\n`);
  }

  async unseenRefusals() {
    if (!isWhole(this.config)) return [];
    const unseen = await neverSeen(process.env.TEST_ANSWERS);
    return unseen.map((refusal) => `no test provoked the declared refusal ${refusal}`);
  }

  /**
   * Lists, after a run of all tests, the events that an operation fired without a declaration, and those that it
   * declares and no test fired. It does not fail: events of workflows and of the network carry the request id of the
   * call that asked for the payment, so a request id alone does not tell which of them the call itself fired.
   */
  async listEvents() {
    const file = process.env.TEST_ANSWERS;
    if (file === undefined || !isWhole(this.config)) return;
    const { undeclared, neverFired } = await eventFaults(file);
    for (const line of [...undeclared, ...neverFired]) process.stderr.write(`note: ${line}\n`);
  }

  unlistedSkips(files) {
    if (!process.env.CI || this.config.testNamePattern) return [];
    return files
      .filter(({ testFilePath }) => !maySkip.some(({ file }) => file.test(testFilePath)))
      .flatMap(({ testFilePath, testResults }) =>
        testResults
          .filter(({ status }) => status === 'pending' || status === 'todo')
          .map(({ fullName }) => `skipped, but not in test/support/may-skip.mjs: ${testFilePath} ${fullName}`),
      );
  }

  getLastError() {
    return this.error;
  }
}

/** Nothing was left out by a path, a name, a shard, or because it had not changed. */
const isWhole = ({ testPathPatterns, testNamePattern, onlyChanged, onlyFailures, shard }) =>
  testPathPatterns.patterns.length === 0 && !testNamePattern && !onlyChanged && !onlyFailures && !shard;
