/**
 * Runs before every test file: a developer's own settings must not reach the tests, and what the API refuses is
 * remembered. Imports next to nothing, because test/rules has to stay quick.
 * @module
 */
import { recordAnswers } from './answers.ts';

for (const name of Object.keys(process.env)) {
  if (/^(BURSAR_|TEMPORAL_(ADDRESS|NAMESPACE)$|DATABASE_URL$|PORT$|HOST$|PG)/.test(name)) delete process.env[name];
}
if (process.env.TEST_ANSWERS !== undefined) recordAnswers(process.env.TEST_ANSWERS);
