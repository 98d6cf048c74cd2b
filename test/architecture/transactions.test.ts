/**
 * Goal: a transaction is opened where its extent is decided, so that a service always works inside one. Method: searches
 * the sources for the two calls that open one.
 * @module
 */
import { glob, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';

const opening = /\bdatabase\.write\(|\.transactional\(/;

/** Loops and processes that no request starts; each of their steps is a transaction. */
const loops: readonly string[] = [
  'src/domains/treasury/ledger/sealer.ts',
  'src/relay/by-index.ts',
  'src/relay/deliveries.ts',
  'src/relay/delivery-results.ts',
  'src/relay/first-attempts.ts',
  'src/relay/push.ts',
  'src/relay/retries.ts',
  'src/relay/sandbox-clock.ts',
];

async function filesThatOpen(pattern: string): Promise<string[]> {
  const found: string[] = [];
  for await (const path of glob(pattern)) {
    if (opening.test(await readFile(path, 'utf8'))) found.push(path);
  }
  return found.toSorted();
}

test('services and routes open no transaction', async () => {
  expect(await filesThatOpen('src/domains/**/*.{service,routes,queries}.ts')).toEqual([]);
});

test('transactions are opened by use cases, by the one helper of the routes, and by loops', async () => {
  const elsewhere = (await filesThatOpen('src/**/*.ts')).filter(
    (path) => !/^src\/(usecases|db|sandbox|dev)\//.test(path) && path !== 'src/http/in-transaction.ts',
  );
  expect(elsewhere).toEqual(loops);
});
