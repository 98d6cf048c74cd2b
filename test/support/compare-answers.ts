/**
 * Compares the answers of several test runs with the contracts, as a run of all tests does at its end. Each run appends
 * to the file that TEST_ANSWERS names: `TEST_ANSWERS=/tmp/answers npm run test:run -- test/api/cards`, then other
 * folders, then `npm run test:answers -- /tmp/answers`.
 * @module
 */
import { contractFaults } from './answers.ts';

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('name the file that TEST_ANSWERS named');
const faults = await contractFaults(file);
for (const fault of faults) process.stdout.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
