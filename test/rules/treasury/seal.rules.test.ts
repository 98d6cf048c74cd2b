/** Seals and checkpoints: everything said is covered, order counts, and only our key signs. @module */

import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  faultOf,
  firstRoot,
  isSignedHead,
  keyIdOf,
  makeCheckpoint,
  publicPemOf,
  signingKeyFrom,
} from '../../../src/domains/treasury/ledger/checkpoint.rules.ts';
import {
  type ChainEnd,
  faultOfSeal,
  genesis,
  type JournalOnRecord,
  leafOf,
  leafText,
  leafTextOfFormat1,
  sealAll,
  sealOf,
  sealOfFormat1,
} from '../../../src/domains/treasury/ledger/seal.rules.ts';
import { leafHash, MerkleTree, merkleRoot } from '../../../src/platform/record-chains/merkle.rules.ts';

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

const sealedAt = '2026-03-02T10:00:00.250Z';
const others = Object.keys(journal).filter((name) => name !== 'entries') as (keyof JournalOnRecord)[];
const otherJournals = [
  ...others.map((field) => ({ ...journal, [field]: 'another' })),
  ...['line', 'account', 'amountCents', 'balanceBeforeCents', 'balanceAfterCents', 'accountVersion'].map((field) => ({
    ...journal,
    entries: journal.entries.map((entry) => ({ ...entry, [field]: 77 })),
  })),
  { ...journal, entries: journal.entries.slice(1) },
  { ...journal, entries: [...journal.entries].reverse() },
];

test('a leaf changes with any fact of the journal, its position and its time; a seal also with the seal before', () => {
  const texts = [
    leafText(1, sealedAt, journal),
    leafText(2, sealedAt, journal),
    leafText(1, '2026-03-02T10:00:00.251Z', journal),
    ...otherJournals.map((other) => leafText(1, sealedAt, other)),
  ];
  const leaves = texts.map((text) => leafHash(text));
  const seals = leaves.flatMap((leaf) => [sealOf(genesis, leaf), sealOf('f'.repeat(64), leaf)]);
  expect(new Set([...leaves, ...seals]).size).toBe(3 * texts.length);
});

test('a leaf is a JSON array of texts, integers and nulls without whitespace, as RFC 8785 writes it', () => {
  const text = leafText(1, sealedAt, { ...journal, cause: 'é "\u0007" \u2028 €' });
  expect(text).toContain('"é \\"\\u0007\\" \u2028 €"');
  expect(JSON.stringify(JSON.parse(text))).toBe(text);
  const flat = (JSON.parse(text) as unknown[]).flat(2);
  expect(flat.every((value) => value === null || typeof value === 'string' || Number.isSafeInteger(value))).toBe(true);
});

test('a leaf and a seal begin with their name, and a chain with 64 zeros', () => {
  expect(genesis).toBe('0'.repeat(64));
  expect((JSON.parse(leafText(1, sealedAt, journal)) as unknown[]).slice(0, 5)).toEqual([
    ...['bursar journal', 2, 1, sealedAt, journal.id],
  ]);
  const text = 'bursar seal\n2\nprevious\nleaf';
  expect(sealOf('previous', 'leaf')).toBe(createHash('sha256').update(text).digest('hex'));
});

test('in the tree a seal of format 1 is a leaf of its own, and one of format 2 its leaf', () => {
  expect(leafTextOfFormat1(7, 'aa')).toBe('["bursar seal",1,7,"aa"]');
  expect(leafOf({ sequence: 7, hash: 'aa', leaf: null })).toBe(leafHash('["bursar seal",1,7,"aa"]'));
  expect(leafOf({ sequence: 7, hash: 'aa', leaf: 'bb' })).toBe('bb');
});

test('a seal of format 1 changes with any fact of the journal, its position and the seal before it', () => {
  const seals = new Set([
    sealOfFormat1(genesis, 1, journal),
    sealOfFormat1(genesis, 2, journal),
    sealOfFormat1('f'.repeat(64), 1, journal),
    ...otherJournals.map((other) => sealOfFormat1(genesis, 1, other)),
  ]);
  expect(seals.size).toBe(3 + otherJournals.length);
});

test('seals of both formats are checked by their own rules, and an unknown format is a fault', () => {
  const leaf = leafHash(leafText(4, sealedAt, journal));
  const second = { sequence: 4, format: 2, leaf, hash: sealOf(genesis, leaf), sealedAt };
  const first = { sequence: 4, format: 1, leaf: null, hash: sealOfFormat1(genesis, 4, journal), sealedAt: null };
  for (const seal of [first, second]) {
    expect(faultOfSeal(genesis, seal, journal)).toBeNull();
    expect(faultOfSeal('f'.repeat(64), seal, journal)).toMatch(/does not match its seal 4/);
    for (const other of otherJournals) expect(faultOfSeal(genesis, seal, other)).toMatch(/does not match its seal 4/);
    expect(faultOfSeal(genesis, { ...seal, sequence: 5 }, journal)).toMatch(/does not match its seal 5/);
    expect(faultOfSeal(genesis, { ...seal, format: 3 - seal.format }, journal)).toMatch(/does not match its seal 4/);
  }
  expect(faultOfSeal(genesis, { ...second, sealedAt: null }, journal)).toMatch(/does not match/);
  expect(faultOfSeal(genesis, { ...second, format: 3 }, journal)).toMatch(/unknown format 3/);
});

test('batches of any size make the same chain and the same tree per owner', () => {
  const owner = fc.constantFrom('own_a', 'own_b', 'own_c');
  fc.assert(
    fc.property(fc.array(owner, { minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 30 }), (owners, size) => {
      const journals = owners.map((ownerId, n) => ({ ...journal, ownerId, id: `jr_${n}` }));
      const whole = sealAll(journals, new Map(), sealedAt).seals;
      const ends = new Map<string, ChainEnd>();
      const parts = [];
      for (let n = 0; n < journals.length; n += size) {
        parts.push(...sealAll(journals.slice(n, n + size), ends, sealedAt).seals);
        for (const [ownerId, { sequence, hash, tree }] of ends)
          ends.set(ownerId, { sequence, hash, tree: new MerkleTree(sequence, tree.frontier) });
      }
      expect(parts).toEqual(whole);
      for (const ownerId of new Set(owners)) {
        const own = whole.filter((seal) => seal.ownerId === ownerId);
        expect(own.map(({ sequence }) => sequence)).toEqual(own.map((_, n) => n + 1));
        expect(ends.get(ownerId)?.tree.root).toBe(merkleRoot(own.map((seal) => leafOf(seal))));
      }
    }),
  );
});

const { privateKey } = generateKeyPairSync('ed25519');
const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
const heads = fc.uniqueArray(
  fc.record({
    ownerId: fc.stringMatching(/^own_[a-z0-9]{8}$/),
    sequence: fc.integer({ min: 1, max: 1e9 }),
    hash,
    treeRoot: hash,
  }),
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
      for (const other of [
        forged,
        { ...first, treeRoot: firstRoot },
        { ...first, treeRoot: undefined },
        { ...first, chain: 'audit' },
      ])
        expect(isSignedHead(privateKey, checkpoint.at, other)).toBe(false);
      expect(faultOf(privateKey, { ...checkpoint, version: undefined })).toMatch(/mixes heads of two formats/);
      expect(faultOf(privateKey, { ...checkpoint, heads: [forged, ...checkpoint.heads.slice(1)] })).toBeDefined();
    }),
    { numRuns: 25 },
  );
});

test('a checkpoint of format 1 is still whole as it was signed', () => {
  const key = signingKeyFrom(
    '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----',
  );
  const at = '2026-03-02T10:00:00.000Z';
  const head = { ownerId: 'own_00000001', sequence: 7, hash: 'a'.repeat(64) };
  const text = ['bursar checkpoint', at, head.ownerId, head.sequence, head.hash].join('\n');
  const root = createHash('sha256').update([firstRoot, text].join('\n')).digest('hex');
  const signed = (content: string) => sign(null, Buffer.from(content), key).toString('base64url');
  const checkpoint = {
    ...{ at, keyId: keyIdOf(key), previousRoot: firstRoot, root, rootSignature: signed(root) },
    heads: [{ ...head, signature: signed(text) }],
  };
  expect(faultOf(key, checkpoint)).toBeUndefined();
  expect(faultOf(key, { ...checkpoint, version: 2 })).toMatch(/mixes heads of two formats/);
});

test('only an Ed25519 key is taken', () => {
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  expect(publicPemOf(signingKeyFrom(pem))).toBe(publicPemOf(privateKey));
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  expect(() => signingKeyFrom(other.toString())).toThrow(/must be Ed25519/);
});
