/**
 * Runs before every test file: a developer's own settings must not reach the tests, and what the API refuses is
 * remembered. Property tests take the seed of the run. Imports little, because test/rules has to stay quick.
 * @module
 */
import fc from 'fast-check';
import { recordAnswers } from './answers.ts';
import { seed } from './seed.ts';

for (const name of Object.keys(process.env)) {
  if (/^(BURSAR_|TEMPORAL_(ADDRESS|NAMESPACE)$|DATABASE_URL$|PORT$|HOST$|PG)/.test(name)) delete process.env[name];
}
if (process.env.TEST_ANSWERS !== undefined) recordAnswers(process.env.TEST_ANSWERS);
fc.configureGlobal({ seed });
