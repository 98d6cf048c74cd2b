/**
 * Goal: handlers get the amounts of a request in cents under names in cents, and cents are computed in one file.
 * Method: renamed fields are compared, sources are searched. The types are checked in typed-money.cases.ts.
 * @module
 */
import { glob, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import * as z from 'zod';
import { type Received, withCents } from '../../src/http/cents-names.ts';
import { euros } from '../../src/http/schemas.ts';
import { body } from './typed-money.cases.ts';

test('amounts of a request get their names in cents, at every depth, and no other field changes', () => {
  const parsed = body.parse({
    amountEuros: 12.5,
    limit: null,
    payment: { parts: [{ shareEuros: 0.01, name: 'a' }] },
    either: { feeEuros: 3 },
  });
  const received: Received<typeof body> = withCents(body, parsed) as Received<typeof body>;
  expect(received).toEqual({
    amountCents: 1_250,
    limitCents: null,
    payment: { parts: [{ shareCents: 1, name: 'a' }] },
    either: { feeCents: 300 },
  });
  expect(withCents(body, body.parse({ amountEuros: 1, either: { percent: 7 } }))).toEqual({
    amountCents: 100,
    either: { percent: 7 },
  });
});

test('a transformed body keeps the names in cents', () => {
  const later = z.strictObject({ amountEuros: euros().optional() }).transform((value) => ({ ...value, extra: 1 }));
  expect(withCents(later, later.parse({ amountEuros: 2 }))).toEqual({ amountCents: 200, extra: 1 });
});

test('cents are multiplied and divided in kernel/money.ts only', async () => {
  const multiplied = /(?:\b\w*Cents|\bcents\([^()]*\))\)* (?:\*|\/|%) |[^*/] (?:\*|\/|%) \(*(?:\w+\.)*\w*Cents\b/;
  const found: string[] = [];
  for await (const path of glob('{src,activities,workflows}/**/*.ts')) {
    if (path === 'src/kernel/money.ts') continue;
    const lines = (await readFile(path, 'utf8'))
      .split('\n')
      .filter((line) => !/^\s*(?:\/?\*|\/\/|--)/.test(line) && multiplied.test(line));
    found.push(...lines.map((line) => `${path}: ${line.trim()}`));
  }
  expect(found).toEqual([]);
});
