/**
 * Ends every test run with one line that counts the tests. A file that could not run at all counts as a failure, and
 * so does a whole run in which everything passed without one of the published refusals ever being seen, and a run in
 * which an operation refused with a code that its contract does not declare. Where tests
 * were skipped, because this machine lacks what they need, that is said and fails nothing.
 * @module
 */
import { neverSeen, undeclared } from './answers.ts';

// biome-ignore lint/style/noDefaultExport: Jest takes the default export only
export default class CountReporter {
  constructor(config) {
    this.config = config;
  }

  async onRunComplete(_contexts, results) {
    const skipped = results.numPendingTests + results.numTodoTests;
    let failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const unseen = failed === 0 && isWhole(this.config) ? await neverSeen(process.env.TEST_ANSWERS) : [];
    if (unseen.length > 0) {
      const words = `refusals that no test has seen:\n  ${unseen.join('\n  ')}`;
      process.stderr.write(`${words}\n`);
      if (skipped === 0) {
        this.error = new Error(words);
        failed += 1;
      }
    }
    const foreign = await undeclared(process.env.TEST_ANSWERS);
    if (foreign.length > 0) {
      const words = `refusals that no contract declares:\n  ${[...new Set(foreign)].join('\n  ')}`;
      process.stderr.write(`${words}\n`);
      this.error = new Error(words);
      failed += 1;
    }
    const counts = [`${results.numPassedTests} passed`, `${failed} failed`];
    if (skipped > 0) counts.push(`${skipped} skipped`);
    process.stdout.write(`${counts.join(', ')}\n`);
  }

  getLastError() {
    return this.error;
  }
}

/** Nothing was left out by a path, a name, a shard, or because it had not changed. */
const isWhole = ({ testPathPatterns, testNamePattern, onlyChanged, onlyFailures, shard }) =>
  testPathPatterns.patterns.length === 0 && !testNamePattern && !onlyChanged && !onlyFailures && !shard;
