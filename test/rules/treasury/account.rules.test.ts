/** The names of ledger accounts, and what a name determines. @module */
import { expect, test } from '@jest/globals';
import {
  accountInWords,
  accountsWanted,
  agentBudget,
  available,
  balanceChange,
  external,
  fees,
  hasRunningBalance,
  held,
  interowner,
  receivable,
  suspense,
  wallet,
  walletOf,
} from '../../../src/domains/treasury/ledger/account.rules.ts';

const ofWallet = wallet('wal_1');
const budget = agentBudget('ag_1');
const running = [available(ofWallet), held(ofWallet), available(budget), held(budget), receivable('own_1')];
const contra = [
  ...[external('cards', 'own_1'), external('sepa', 'own_1'), external('processor', 'own_1')],
  ...[suspense('own_1'), interowner('own_1'), fees('own_1')],
];

test('an account has the name that stored entries carry', () => {
  expect(running).toEqual([
    ...['wallet:wal_1:available', 'wallet:wal_1:held', 'agent:ag_1:available', 'agent:ag_1:held'],
    'owner:own_1:receivable',
  ]);
  expect(contra).toEqual([
    ...['external:cards:own_1', 'external:sepa:own_1', 'external:processor:own_1'],
    ...['suspense:own_1', 'interowner:own_1', 'fees:own_1'],
  ]);
});

test('only accounts of owners have a running balance', () => {
  expect(running.filter(hasRunningBalance)).toEqual(running);
  expect(contra.filter(hasRunningBalance)).toEqual([]);
  expect(hasRunningBalance('external:wallet:x')).toBe(false);
});

test('a debit raises what an owner owes, and lowers every other balance', () => {
  for (const account of [...running, ...contra])
    expect([account, balanceChange(account, -5)]).toEqual([account, account === receivable('own_1') ? 5 : -5]);
});

test('an account is in the wallet that it names', () => {
  expect(running.map(walletOf)).toEqual(['wal_1', 'wal_1', null, null, null]);
  expect([...contra.map(walletOf), walletOf('wallet')]).toEqual(Array.from({ length: 7 }, () => null));
});

test('a sentence about an account names what is held, and not what is available', () => {
  expect(running.map(accountInWords)).toEqual([
    ...['wallet wal_1', 'wallet wal_1 (held)', 'agent ag_1', 'agent ag_1 (held)', 'owner own_1 (receivable)'],
  ]);
});

test('a wallet stands for its two accounts, and with another filter only what fits both is wanted', () => {
  const both = ['wallet:wal_1:available', 'wallet:wal_1:held'];
  expect(accountsWanted({})).toBeUndefined();
  expect(accountsWanted({ walletId: 'wal_1' })).toEqual(both);
  expect(accountsWanted({ account: 'fees:own_1' })).toEqual(['fees:own_1']);
  expect(accountsWanted({ walletId: 'wal_1', account: 'wallet:wal_1:held' })).toEqual(['wallet:wal_1:held']);
  expect(accountsWanted({ walletId: 'wal_1', account: 'wallet:wal_2:held' })).toEqual([]);
});
