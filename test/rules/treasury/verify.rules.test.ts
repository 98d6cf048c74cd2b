/** The check of an owner's book: a right one has no difference, and each invariant that is broken is named with its figures. @module */
import { describe, expect, test } from '@jest/globals';
import {
  commitmentTo,
  type EntryOnRecord,
  type JournalOnRecord,
  leafOf,
  sealAll,
} from '../../../src/domains/treasury/ledger/seal.rules.ts';
import { BookCheck, type CheckedJournal } from '../../../src/domains/treasury/ledger/verify.rules.ts';
import { MerkleTree, merkleRoot } from '../../../src/platform/record-chains/merkle.rules.ts';

const ownerId = 'own_00000001';
const wallet = 'wallet:wal_00000001:available';
const outside = `external:processor:${ownerId}`;
const owed = `owner:${ownerId}:receivable`;

const contra = (line: number, amountCents: number, account = outside): EntryOnRecord => ({
  ...{ line, account, amountCents },
  ...{ balanceBeforeCents: null, balanceAfterCents: null, accountVersion: null },
});
const running = (line: number, amountCents: number, balance: readonly [number, number, number], account = wallet) => ({
  ...{ line, account, amountCents },
  ...{ balanceBeforeCents: balance[0], balanceAfterCents: balance[1], accountVersion: balance[2] },
});
const journal = (id: string, entries: readonly EntryOnRecord[], over: Partial<JournalOnRecord> = {}) => ({
  ...{ id, ownerId, agentId: null, kind: 'fund', referenceType: 'fund', referenceId: 'fnd_1', cause: id },
  ...{ memoCommitment: null, requestId: 'r', runId: null, createdAt: '2026-03-02T10:00:00.000000Z', entries },
  ...over,
});
const funded = journal('jr_1', [contra(0, -500), running(1, 500, [0, 500, 1])]);
const drawn = journal('jr_2', [running(0, -200, [500, 300, 2]), contra(1, 200)]);

const sealedAt = '2026-03-02T10:00:00.250Z';
const none = { memo: null, salt: null };
const sealed = (journals: readonly JournalOnRecord[]): CheckedJournal[] =>
  sealAll(journals, new Map(), sealedAt).seals.map((seal, at) => ({
    ...(journals[at] as JournalOnRecord),
    ...none,
    seal,
  }));
const unsealed = (one: JournalOnRecord): CheckedJournal => ({ ...one, ...none, seal: null });
const checked = (journals: readonly CheckedJournal[], check = new BookCheck(ownerId)): BookCheck => {
  for (const one of journals) check.check(one);
  return check;
};
const found = (...journals: readonly CheckedJournal[]) =>
  checked(journals).differences.map(({ check, subject, message }) => [check, subject, message]);

describe('a right book', () => {
  test('has no difference, and is followed to its last entry and seal', () => {
    const journals = sealed([funded, drawn]);
    const check = checked(journals, new BookCheck(ownerId, undefined, new Set([1])));
    const leaves = journals.map(({ seal }) => leafOf(seal as NonNullable<typeof seal>));
    expect(check.differences).toEqual([]);
    expect([...check.accounts]).toEqual([[wallet, { balanceCents: 300, version: 2 }]]);
    expect([...check.contra]).toEqual([[outside, { debitedCents: 500, creditedCents: 200 }]]);
    expect([...check.roots]).toEqual([[1, merkleRoot(leaves.slice(0, 1))]]);
    const { sequence, hash, tree } = check.sealedThrough;
    expect([sequence, hash, tree.root]).toEqual([2, journals[1]?.seal?.hash, merkleRoot(leaves)]);
  });

  test('may wait for its seals: contra accounts are summed when they are there', () => {
    const check = checked([unsealed(funded), unsealed(drawn)]);
    expect(check.differences).toEqual([]);
    expect(check.contra.size).toBe(0);
    expect(check.accounts.get(wallet)).toEqual({ balanceCents: 300, version: 2 });
    expect(check.sealedThrough.sequence).toBe(0);
  });

  test('may be checked from any seal on, where the balances before it are not known', () => {
    const [first, second] = sealed([funded, drawn]);
    const tree = new MerkleTree();
    tree.append(first?.seal?.leaf ?? '');
    const from = { sequence: 1, hash: first?.seal?.hash ?? '', tree };
    const check = checked([second as CheckedJournal], new BookCheck(ownerId, from));
    expect(check.differences).toEqual([]);
    expect(check.sealedThrough.sequence).toBe(2);
    expect(found(second as CheckedJournal)).toEqual([
      ['seal', 'jr_2', 'has the sequence 2 after 0: journals are missing'],
      ['seal', 'jr_2', 'does not match its seal 2: it, or the seal before it, was changed'],
      ['entry', 'jr_2', `continues ${wallet} at 500 cents, entry 2, where 0 cents, entry 1 was due`],
    ]);
  });
});

test('a journal that was changed after its seal differs from it', () => {
  const [first] = sealed([funded]);
  expect(found({ ...(first as CheckedJournal), cause: 'another' })).toEqual([
    ['seal', 'jr_1', 'does not match its seal 1: it, or the seal before it, was changed'],
  ]);
});

describe('a journal', () => {
  test('that does not sum to zero, or has one line, is no journal', () => {
    const uneven = journal('jr_1', [contra(0, -500), running(1, 499, [0, 499, 1])]);
    expect(found(unsealed(uneven))).toEqual([['balance', 'jr_1', 'has 2 lines that sum to -1 cents, not to 0']]);
    const single = journal('jr_1', [contra(0, 0)]);
    expect(found(unsealed(single))).toEqual([['balance', 'jr_1', 'has 1 lines that sum to 0 cents, not to 0']]);
  });

  test('posts to accounts of its owner, and to nothing else', () => {
    const stranger = 'external:processor:own_00000002';
    const foreign = journal('jr_1', [contra(0, -500, stranger), running(1, 500, [0, 500, 1])]);
    expect(found(unsealed(foreign))).toEqual([['entry', 'jr_1', `posts to ${stranger}, which is not the owner's`]]);
    for (const unknown of [`gifts:${ownerId}`, `gifts:fees:${ownerId}`]) {
      const odd = journal('jr_1', [contra(0, -500, unknown), running(1, 500, [0, 500, 1])]);
      expect(found(unsealed(odd))).toEqual([['entry', 'jr_1', `posts to ${unknown}, which is no account`]]);
    }
    for (const account of ['cards', 'sepa', 'processor'].map((rail) => `external:${rail}:${ownerId}`))
      expect(found(unsealed(journal('jr_1', [contra(0, -1, account), running(1, 1, [0, 1, 1])])))).toEqual([]);
    for (const account of ['suspense', 'fees', 'interowner'].map((name) => `${name}:${ownerId}`))
      expect(found(unsealed(journal('jr_1', [contra(0, -1, account), running(1, 1, [0, 1, 1])])))).toEqual([]);
  });

  test('has the memo that it was posted with, or none', () => {
    const memoCommitment = commitmentTo('rent', 'salt');
    const written = journal('jr_1', funded.entries, { memoCommitment });
    const told = (memo: string | null, salt: string | null) => found({ ...unsealed(written), memo, salt });
    const other = [['text', 'jr_1', 'has another memo than the one it was posted with']];
    expect([told('rent', 'salt'), told(null, null)]).toEqual([[], []]);
    expect([told('Rent', 'salt'), told('rent', 'pepper'), told('rent', null)]).toEqual([other, other, other]);
  });
});

describe('an entry', () => {
  const entry = (balance: readonly [number | null, number | null, number | null], amountCents = 500) =>
    unsealed(
      journal('jr_1', [
        contra(0, -amountCents),
        {
          ...{ line: 1, account: wallet, amountCents },
          ...{ balanceBeforeCents: balance[0], balanceAfterCents: balance[1], accountVersion: balance[2] },
        },
      ]),
    );

  test('says the balances of its account', () => {
    for (const balance of [
      [null, 500, 1],
      [0, null, 1],
      [0, 500, null],
    ] as const)
      expect(found(entry(balance))).toEqual([['entry', 'jr_1', `says no balance of ${wallet}`]]);
  });

  test('continues the account where the entry before it ended', () => {
    const due = (cents: number, version: number) => [
      ...['entry', 'jr_1', `continues ${wallet} at ${cents} cents, entry ${version}, where 0 cents, entry 1 was due`],
    ];
    expect(found(entry([1, 501, 1]))).toEqual([due(1, 1)]);
    expect(found(entry([0, 500, 2]))).toEqual([due(0, 2)]);
  });

  test('moves its account by its amount, and never below zero', () => {
    expect(found(entry([0, 499, 1]))).toEqual([['entry', 'jr_1', `takes ${wallet} from 0 by 500 to 499 cents`]]);
    expect(found(entry([0, -1, 1], -1))).toEqual([['entry', 'jr_1', `takes ${wallet} from 0 by -1 to -1 cents`]]);
  });

  test('that puts the owner into debt is of a clearing', () => {
    const clearing = [running(0, -300, [0, 300, 1], owed), contra(1, 300)];
    expect(found(unsealed(journal('jr_1', clearing, { kind: 'clearing' })))).toEqual([]);
    expect(found(unsealed(journal('jr_1', clearing)))).toEqual([
      ['receivable', 'jr_1', 'puts the owner into debt, but is of the kind fund'],
    ]);
    const nothing = [running(0, 0, [0, 0, 1], owed), contra(1, 0)];
    expect(found(unsealed(journal('jr_1', nothing)))).toEqual([]);
    const settling = journal('jr_2', [contra(0, -300), running(1, 300, [300, 0, 2], owed)]);
    expect(found(unsealed(journal('jr_1', clearing, { kind: 'clearing' })), unsealed(settling))).toEqual([]);
  });
});

test('of a book that is broken throughout, a hundred differences are named', () => {
  const check = new BookCheck(ownerId);
  for (let number = 0; number < 150; number++) check.differs('total', `jr_${number}`, 'differs');
  expect(check.differences).toHaveLength(100);
  expect(check.differences.at(-1)).toEqual({ check: 'total', subject: 'jr_99', message: 'differs' });
});
