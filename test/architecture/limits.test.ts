/**
 * Goal: everything that a caller can create has a limit that the documentation shows. Method: the limits table is held
 * against the published operations, the ruling's figures and docs/limits.md.
 * @module
 */
import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { boundedOtherwise, limits } from '../../src/platform/limits.ts';
import { publishedOperations } from '../support/published-operations.ts';

const table = Object.entries(limits);

test('every operation that creates a record has a limit, or a reason why it is bounded', () => {
  const limited = new Set<string>([
    ...table.flatMap(([, { operations }]) => operations),
    ...Object.keys(boundedOtherwise),
  ]);
  const creating = publishedOperations.filter(
    ({ operation }) =>
      operation.success.status === 201 ||
      operation.success.status === 202 ||
      operation.success.also?.includes(201) === true ||
      operation.fires?.some((event) => /\.(created|issued|funded|enrolled)$/.test(event)) === true,
  );
  expect(creating.map(({ name }) => name).filter((name) => !limited.has(name))).toEqual([]);
  const published = publishedOperations.map(({ name }) => name);
  expect([...limited].filter((name) => !published.includes(name))).toEqual([]);
});

test('the figures are the ruled ones', () => {
  expect(Object.fromEntries(table.map(([name, { most }]) => [name, most]))).toMatchObject({
    keys: 20,
    agent_tokens: 20,
    wallets: 100,
    open_intents: 100,
    waiting_intents: 20,
    challenges: 5,
    webhooks: 20,
    evidence: 100,
  });
});

test('docs/limits.md shows the table', async () => {
  const page = await readFile(new URL('../../docs/limits.md', import.meta.url), 'utf8');
  const inThousands = new Intl.NumberFormat('en-US');
  const listed = (operations: readonly string[]) => operations.map((name) => `\`${name}\``).join(', ');
  const rows = [
    ...table.map(
      ([name, { most, per, counted, operations }]) =>
        `| \`${name}\` | ${inThousands.format(most)} | ${per} | ${counted} | ${listed(operations)} |`,
    ),
    ...Object.entries(boundedOtherwise).map(([name, why]) => `| \`${name}\` | ${why} |`),
  ];
  expect(page.split('\n').filter((line) => line.startsWith('| `'))).toEqual(rows);
});
