/** Which names of accounts PostgreSQL takes, and which of them have a running balance. @module */

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Book, openBook } from './book.ts';

let book: Book;
beforeAll(async () => {
  book = await openBook();
});
afterAll(() => book.close());

const id = '01m85tn04pf9p8cxs6kmjnwgga';

const running = [
  `wallet:wal_${id}:available`,
  `wallet:wal_${id}:held`,
  `agent:ag_${id}:available`,
  `agent:ag_${id}:held`,
  `owner:own_${id}:receivable`,
  'wallet:wal_abcdefgh:held',
  `wallet:wal_${'a'.repeat(64)}:held`,
];
const contra = [
  ...['external:cards', 'external:sepa', 'external:processor', 'suspense', 'fees', 'interowner'].map(
    (kind) => `${kind}:own_${id}`,
  ),
  'fees:own_abcdefgh',
  `fees:own_${'a'.repeat(64)}`,
];
const unknown = [
  '',
  'wallet:wal_abcdefg:held',
  `wallet:wal_${'a'.repeat(65)}:held`,
  'fees:own_abcdefg',
  `fees:own_${'a'.repeat(65)}`,
  `wallet:wal_${id}`,
  `wallet:wal_${id}:`,
  `wallet:wal_${id}:pending`,
  `wallet:wal_${id}:held:held`,
  `wallet:wal_${id}:held\n`,
  `wallet:wal_${id.toUpperCase()}:held`,
  `wallet:ag_${id}:held`,
  `xwallet:wal_${id}:held`,
  `owner:own_${id}`,
  `owner:own_${id}:held`,
  `external:own_${id}`,
  `external:banks:own_${id}`,
  `fees:own_${id} `,
  `fees:own_${id}_${id}`,
  `fees:own_${id}:held`,
];

test.each([
  ['true', running],
  ['false', contra],
  ['null', unknown],
])('has_running_balance is %s', async (expected, names) => {
  const found = await book.rows(
    `select n as name from unnest($1::text[]) n where coalesce(has_running_balance(n)::text, 'null') = $2`,
    [names, expected],
  );
  expect(found.map(({ name }) => name)).toEqual(names);
});

test('a transaction is paid from a wallet or an agent, by their ids', async () => {
  const [check] = await book.rows(
    `select pg_get_expr(conbin, conrelid) as expression from pg_constraint
     where conrelid = 'transactions'::regclass and conname = 'transactions_funding_source_check'`,
  );
  const sources = ['wallet:wal_', 'agent:ag_', 'owner:own_', 'wallet:ag_', 'wallet:wal', ''].flatMap((prefix) =>
    [
      id,
      'abcdefg',
      'abcdefgh',
      'a'.repeat(64),
      'a'.repeat(65),
      'ABCDEFGH',
      'abcdefgh_',
      'abcdefgh:held',
      'abcdefgh\n',
    ].map((one) => `${prefix}${one}`),
  );
  const taken = await book.rows(
    `select funding_source from unnest($1::text[]) funding_source where ${String(check?.expression)}`,
    [sources],
  );
  expect(taken.map((row) => row.funding_source)).toEqual(
    ['wallet:wal_', 'agent:ag_'].flatMap((prefix) => [id, 'abcdefgh', 'a'.repeat(64)].map((one) => `${prefix}${one}`)),
  );
});
