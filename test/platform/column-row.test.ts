/** Rows of SQL functions are parsed: named by properties, with dates, and refused where a column is not as declared. @module */
import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { columnRow, jsonColumns, jsonInstant } from '../../src/db/column-row.ts';
import { centsValue, idValue } from '../../src/db/row-values.ts';
import { FundingSchema } from '../../src/domains/treasury/funding/funding.entity.ts';

const row = {
  id: 'fnd_1',
  owner_id: 'own_1',
  wallet_id: 'wal_1',
  from_wallet_id: null,
  amount_cents: 250,
  balance_cents: 1_250,
  status: 'completed',
  is_simulated: true,
  journal_id: 'jr_1',
  reference: null,
  created_at: '2026-01-02T03:04:05.678+00:00',
};

describe('a row within JSON', () => {
  test('has the names and types of the entity, and dates', () => {
    const funding = columnRow(jsonColumns(FundingSchema, ['id', 'amountCents', 'fromWalletId', 'createdAt']));
    expect(funding.parse(row)).toEqual({
      id: 'fnd_1',
      amountCents: 250,
      fromWalletId: null,
      createdAt: new Date('2026-01-02T03:04:05.678Z'),
    });
  });

  test('has every column of the entity unless some are named', () => {
    expect(Object.keys(columnRow(jsonColumns(FundingSchema)).parse(row)).sort()).toEqual(
      Object.keys(FundingSchema.properties).sort(),
    );
  });

  test.each([
    ['a column is missing', { ...row, owner_id: undefined }],
    ['a column that cannot be null is null', { ...row, status: null }],
    ['an amount is a text', { ...row, amount_cents: '250' }],
    ['an instant is no instant', { ...row, created_at: 'yesterday' }],
  ])('is refused where %s', (_what, changed) => {
    expect(columnRow(jsonColumns(FundingSchema)).safeParse(changed).success).toBe(false);
  });

  test('may contain other rows', () => {
    const outer = columnRow({ madeAt: jsonInstant.nullable(), lastFunding: columnRow({ ownerId: z.string() }) });
    expect(outer.parse({ made_at: null, last_funding: row })).toEqual({
      madeAt: null,
      lastFunding: { ownerId: 'own_1' },
    });
  });
});

describe('a value of a row', () => {
  test('an id is recognized by its prefix', () => {
    expect(idValue('wallet').safeParse('wal_1').success).toBe(true);
    expect(idValue('wallet').safeParse('ag_1').success).toBe(false);
    expect(idValue('wallet').safeParse(null).success).toBe(false);
  });

  test('cents are a safe integer', () => {
    expect(centsValue.safeParse(-250).success).toBe(true);
    expect(centsValue.safeParse(2.5).success).toBe(false);
    expect(centsValue.safeParse(2 ** 53).success).toBe(false);
  });
});
