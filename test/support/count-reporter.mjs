/**
 * Ends every test run with one line that counts the tests. A file that could not run at all counts as a failure.
 * @module
 */
// biome-ignore lint/style/noDefaultExport: Jest takes the default export only
export default class CountReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const counts = [`${results.numPassedTests} passed`, `${failed} failed`];
    if (skipped > 0) counts.push(`${skipped} skipped`);
    process.stdout.write(`${counts.join(', ')}\n`);
  }
}
