/** Where a transaction's money comes from, as stored with it. @module */
import { expect, test } from '@jest/globals';
import { fundingSourceOf } from '../../../src/domains/payments/transactions/funding-source.rules.ts';

test('a wallet or the budget of an agent is read from what is stored', () => {
  expect(fundingSourceOf('wallet:wal_1')).toEqual({ kind: 'wallet', id: 'wal_1' });
  expect(fundingSourceOf('agent:ag_1')).toEqual({ kind: 'agent', id: 'ag_1' });
});

test.each([null, undefined, '', 'wallet', 'agent', 'owner:own_1', ':wal_1'])('%j names no funding source', (stored) => {
  expect(() => fundingSourceOf(stored)).toThrow('a transaction that moves money names its funding source');
});
