/** Which errors mean that the database is away, so that a caller is told to repeat and nobody looks for a bug. @module */
import { expect, test } from '@jest/globals';
import pg from 'pg';
import { isDatabaseAway } from '../../../src/db/database.ts';

const withCode = (code: string) => Object.assign(new Error('of the driver'), { code });

test.each([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
  '57P01',
  '57P03',
  '57P05',
  '25P03',
  '53300',
  '08006',
])('%s: it is away, also as the cause of another error', (code) => {
  expect(isDatabaseAway(withCode(code))).toBe(true);
  expect(isDatabaseAway(new Error('of the ORM', { cause: withCode(code) }))).toBe(true);
  expect(isDatabaseAway(new AggregateError([withCode(code)], 'of each address'))).toBe(true);
});

test.each(['23505', '40001', '42601', '55P03', '25P02', 'EACCES'])('%s: it has answered', (code) => {
  expect(isDatabaseAway(withCode(code))).toBe(false);
});

test('a name that no server has is away', async () => {
  const client = new pg.Client({ host: 'database.invalid', user: 'nobody', password: 'none' });
  const error = await client.connect().catch((one: unknown) => one);
  expect(error).toBeInstanceOf(Error);
  expect(isDatabaseAway(error)).toBe(true);
});
