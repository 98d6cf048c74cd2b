/** Seals and checkpoints: everything said is covered, order counts, and only our key signs. @module */

import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  faultOf,
  firstRoot,
  isSignedHead,
  makeCheckpoint,
  publicPemOf,
  signingKeyFrom,
} from '../../../src/domains/treasury/ledger/checkpoint.rules.ts';
import { entryIdOf, entryKeyOf } from '../../../src/domains/treasury/ledger/entry.rules.ts';
import { genesis, type JournalOnRecord, sealAll, sealOf } from '../../../src/domains/treasury/ledger/seal.rules.ts';
import { isId, newId } from '../../../src/kernel/ids.ts';

const journal: JournalOnRecord = {
  id: 'jr_00000001',
  ownerId: 'own_00000001',
  agentId: null,
  kind: 'fund',
  referenceType: 'fund',
  referenceId: 'fnd_00000001',
  cause: 'fund:fnd_00000001',
  memoCommitment: null,
  requestId: 'r',
  runId: null,
  createdAt: '2026-03-02T10:00:00.000000Z',
  entries: [
    {
      line: 0,
      account: 'external:processor:own_00000001',
      amountCents: -5,
      balanceBeforeCents: null,
      balanceAfterCents: null,
      accountVersion: null,
    },
    {
      line: 1,
      account: 'wallet:wal_00000001:available',
      amountCents: 5,
      balanceBeforeCents: 0,
      balanceAfterCents: 5,
      accountVersion: 1,
    },
  ],
};

test('a seal changes with any fact of the journal, its position and the seal before it', () => {
  const seals = new Set([sealOf(genesis, 1, journal), sealOf(genesis, 2, journal), sealOf('f'.repeat(64), 1, journal)]);
  const fields = Object.keys(journal).filter((name) => name !== 'entries') as (keyof JournalOnRecord)[];
  for (const field of fields) seals.add(sealOf(genesis, 1, { ...journal, [field]: 'another' }));
  for (const field of ['line', 'account', 'amountCents', 'balanceBeforeCents', 'balanceAfterCents', 'accountVersion']) {
    seals.add(sealOf(genesis, 1, { ...journal, entries: journal.entries.map((entry) => ({ ...entry, [field]: 77 })) }));
  }
  seals.add(sealOf(genesis, 1, { ...journal, entries: journal.entries.slice(1) }));
  seals.add(sealOf(genesis, 1, { ...journal, entries: [...journal.entries].reverse() }));
  expect(seals.size).toBe(3 + fields.length + 6 + 2);
});

test('batches of any size make the same chain per owner', () => {
  const owner = fc.constantFrom('own_a', 'own_b', 'own_c');
  fc.assert(
    fc.property(fc.array(owner, { minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 30 }), (owners, size) => {
      const journals = owners.map((ownerId, n) => ({ ...journal, ownerId, id: `jr_${n}` }));
      const whole = sealAll(journals, new Map());
      const heads = new Map<string, { sequence: number; hash: string }>();
      const parts = [];
      for (let n = 0; n < journals.length; n += size) {
        const sealed = sealAll(journals.slice(n, n + size), heads);
        for (const seal of sealed) heads.set(seal.ownerId, seal);
        parts.push(...sealed);
      }
      expect(parts).toEqual(whole);
      for (const ownerId of new Set(owners)) {
        const own = whole.filter((seal) => seal.ownerId === ownerId);
        expect(own.map(({ sequence }) => sequence)).toEqual(own.map((_, n) => n + 1));
      }
    }),
  );
});

const { privateKey } = generateKeyPairSync('ed25519');
const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
const heads = fc.uniqueArray(
  fc.record({ ownerId: fc.stringMatching(/^own_[a-z0-9]{8}$/), sequence: fc.integer({ min: 1, max: 1e9 }), hash }),
  { selector: ({ ownerId }) => ownerId, minLength: 1, maxLength: 5 },
);

test('a checkpoint is whole as signed, and any change or another key is a fault', () => {
  const stranger = generateKeyPairSync('ed25519').privateKey;
  fc.assert(
    fc.property(heads, hash, (all, previous) => {
      const checkpoint = makeCheckpoint(privateKey, '2026-03-02T10:00:00.000Z', previous, all);
      expect(faultOf(privateKey, checkpoint)).toBeUndefined();
      expect(faultOf(stranger, checkpoint)).toMatch(/is signed by the key/);
      expect(faultOf(privateKey, { ...checkpoint, at: '2026-03-02T10:00:00.001Z' })).toBeDefined();
      expect(faultOf(privateKey, { ...checkpoint, previousRoot: firstRoot })).toBeDefined();
      expect(faultOf(privateKey, { ...checkpoint, heads: checkpoint.heads.slice(1) })).toBeDefined();
      const [first] = checkpoint.heads;
      if (first === undefined) throw new Error('a checkpoint without heads');
      const forged = { ...first, sequence: first.sequence + 1 };
      expect(isSignedHead(privateKey, checkpoint.at, first)).toBe(true);
      expect(isSignedHead(privateKey, checkpoint.at, forged)).toBe(false);
      expect(faultOf(privateKey, { ...checkpoint, heads: [forged, ...checkpoint.heads.slice(1)] })).toBeDefined();
    }),
    { numRuns: 25 },
  );
});

test('only an Ed25519 key is taken', () => {
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  expect(publicPemOf(signingKeyFrom(pem))).toBe(publicPemOf(privateKey));
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  expect(() => signingKeyFrom(other.toString())).toThrow(/must be Ed25519/);
});

test('an entry id is well-formed, unique per line, and leads back to its journal and line', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 99 }), (line) => {
      const key = { journalId: newId('journal'), line };
      const id = entryIdOf(key);
      expect(isId('entry', id)).toBe(true);
      expect(entryKeyOf(id)).toEqual(key);
    }),
  );
  expect(entryKeyOf('le_abcdefgh')).toBeUndefined();
});
