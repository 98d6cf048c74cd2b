/**
 * Goal: the checker of recorded histories (`test/load/linearizability`) accepts what can be explained by one order of the
 * operations, and nothing else. Method: short histories of a wallet and of an intent, each with its verdict.
 * @module
 */
import { afterAll, expect, test } from '@jest/globals';
import { openChecker } from '../load/history-checker.ts';

type Told = {
  op: string;
  out?: 'ok' | 'refused' | 'unknown';
  cents?: number;
  from?: number;
  to?: number;
  balance?: number;
  status?: string;
};
/** One operation of a client of its own, from `call` to `end`. */
type Line = readonly [call: number, end: number, told: Told];

const checker = await openChecker();
if (typeof checker === 'string') process.stderr.write(`skipped: linearizability ${checker}\n`);
// Without Go the checker cannot be built; the line above says so.
const testChecked = typeof checker === 'string' ? test.skip : test;
afterAll(async () => {
  if (typeof checker !== 'string') await checker.close();
});

async function verdictOf(model: 'wallet' | 'intent', lines: readonly Line[]): Promise<string | undefined> {
  if (typeof checker === 'string') throw new Error(checker);
  const history = lines.map(([call, end, { out = 'ok', ...told }], client) => ({
    ...told,
    history: 'one',
    model,
    client,
    call,
    return: out === 'unknown' ? null : end,
    out,
  }));
  return (await checker.check(history))[0]?.verdict;
}

const funded: Line = [0, 1, { op: 'fund', to: 0, cents: 100 }];
const paid = { op: 'transfer', from: 0, to: 1, cents: 100 };

testChecked.each<[string, string, readonly Line[]]>([
  ['two at once of which one is refused', 'ok', [funded, [2, 5, paid], [3, 6, { ...paid, out: 'refused' }]]],
  ['two at once that spend the same money', 'illegal', [funded, [2, 5, paid], [3, 6, paid]]],
  ['a refusal although there was enough', 'illegal', [funded, [2, 5, { ...paid, out: 'refused' }]]],
  ['a read of what was before', 'illegal', [funded, [2, 3, paid], [4, 5, { op: 'read', from: 0, balance: 100 }]]],
  ['a read during a transfer', 'ok', [funded, [2, 5, paid], [3, 4, { op: 'read', from: 0, balance: 100 }]]],
  [
    'an unknown transfer that took effect much later',
    'ok',
    [
      funded,
      [2, 3, { ...paid, out: 'unknown' }],
      [4, 5, { op: 'read', from: 0, balance: 100 }],
      [6, 7, { op: 'read', from: 1, balance: 100 }],
    ],
  ],
  [
    'an unknown transfer that took effect twice',
    'illegal',
    [
      [0, 1, { op: 'fund', to: 0, cents: 300 }],
      [2, 3, { ...paid, out: 'unknown' }],
      [4, 5, { op: 'read', from: 0, balance: 100 }],
    ],
  ],
  ['a transfer that is lost', 'illegal', [funded, [2, 3, paid], [4, 5, { op: 'read', from: 1, balance: 0 }]]],
])('a wallet: %s', async (_, verdict, lines) => {
  expect(await verdictOf('wallet', lines)).toBe(verdict);
});

const declared: Line = [0, 1, { op: 'declare', status: 'pending_approval', cents: 500 }];
const approved: Line = [2, 3, { op: 'approve' }];
const charged = { op: 'authorize', cents: 500 };

testChecked.each<[string, string, readonly Line[]]>([
  [
    'declared, approved, authorized and cleared',
    'ok',
    [declared, approved, [4, 5, charged], [6, 7, { op: 'clear' }], [8, 9, { op: 'read', status: 'completed' }]],
  ],
  ['authorized before a person approved', 'illegal', [declared, [2, 3, charged], [4, 5, { op: 'approve' }]]],
  ['authorized twice', 'illegal', [declared, approved, [4, 6, charged], [5, 7, charged]]],
  ['two at once, one refused', 'ok', [declared, approved, [4, 6, charged], [5, 7, { ...charged, out: 'refused' }]]],
  ['authorized above its amount', 'illegal', [declared, approved, [4, 5, { ...charged, cents: 501 }]]],
  [
    'cancelled while a charge pays for it',
    'illegal',
    [declared, approved, [4, 5, charged], [6, 7, { op: 'cancel' }], [8, 9, { op: 'read', status: 'cancelled' }]],
  ],
  [
    'an unknown approval, seen and then gone',
    'illegal',
    [
      declared,
      [2, 3, { op: 'approve', out: 'unknown' }],
      [4, 5, { op: 'read', status: 'approved' }],
      [6, 7, { op: 'read', status: 'pending_approval' }],
    ],
  ],
])('an intent: %s', async (_, verdict, lines) => {
  expect(await verdictOf('intent', lines)).toBe(verdict);
});
