/**
 * Runs before every test file: a developer's own settings must not reach the tests. Imports nothing, because
 * test/rules has to stay quick (who runs a worker imports quiet-temporal.ts).
 * @module
 */
for (const name of Object.keys(process.env)) {
  if (/^(BURSAR_|TEMPORAL_(ADDRESS|NAMESPACE)$|DATABASE_URL$|PORT$|HOST$|PG)/.test(name)) delete process.env[name];
}
