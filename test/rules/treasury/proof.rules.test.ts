/** A proof of one record under a signed checkpoint: it holds as it was made, and each change of it is named. @module */
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { keyIdOf, makeCheckpoint } from '../../../src/domains/treasury/ledger/checkpoint.rules.ts';
import {
  faultOfProof,
  leafOfText,
  nounOf,
  type Proof,
  type ProvenChain,
  provenText,
} from '../../../src/domains/treasury/ledger/proof.rules.ts';
import {
  type JournalOnRecord,
  leafText,
  sealedTextOfFormat1,
} from '../../../src/domains/treasury/ledger/seal.rules.ts';
import { inclusionPath, leafHash, merkleRoot } from '../../../src/platform/record-chains/merkle.rules.ts';
import { leafTextOfRecord, sealedTextOfRecordFormat1 } from '../../../src/platform/record-chains/record-chain.rules.ts';

const key = generateKeyPairSync('ed25519').privateKey;
const stranger = generateKeyPairSync('ed25519').privateKey;
const ownerId = 'own_00000001';
const at = '2026-03-02T10:00:00.000Z';
const hash = 'a'.repeat(64);
const previous = 'b'.repeat(64);

const journal: JournalOnRecord = {
  ...{ id: 'jr_1', ownerId, agentId: null, kind: 'fund', referenceType: 'fund', referenceId: 'fnd_1', cause: 'c' },
  ...{ memoCommitment: null, requestId: 'r', runId: null, createdAt: at, entries: [] },
};
const record = (chain: string) => ({
  ...{ chain, sequence: 3, recordId: 'aud_1', facts: JSON.stringify([ownerId, 'x']) },
  ...{ addressCommitment: null, textCommitment: null },
});

/** Of the third of five records. */
function proofOf(chain: ProvenChain, format: number, text: string, by: KeyObject = key): Proof {
  const sequence = 3;
  const leaf = leafOfText({ chain, format, sequence, text });
  const leaves = Array.from({ length: 5 }, (_, n) => (n === sequence - 1 ? leaf : leafHash(`leaf ${n}`)));
  const treeRoot = merkleRoot(leaves);
  const head = { ...(chain === 'journals' ? {} : { chain }), ownerId, sequence: 5, hash, treeRoot };
  const checkpoint = makeCheckpoint(by, at, 'c'.repeat(64), [head]);
  const signature = checkpoint.heads[0]?.signature ?? '';
  return {
    ...{ version: 1, chain, ownerId, id: chain === 'journals' ? 'jr_1' : 'aud_1', sequence, format, text, leaf },
    path: inclusionPath(leaves, sequence - 1),
    checkpoint: { at, keyId: keyIdOf(by), size: 5, treeRoot, head: hash, signature },
  };
}

const proofs: readonly [name: string, proof: Proof][] = [
  ['a journal of format 1', proofOf('journals', 1, sealedTextOfFormat1(previous, 3, journal))],
  ['a journal of format 2', proofOf('journals', 2, leafText(3, at, journal))],
  ['an audit row of format 1', proofOf('audit', 1, sealedTextOfRecordFormat1(previous, record('audit')))],
  ['an audit row of format 2', proofOf('audit', 2, leafTextOfRecord(record('audit')))],
  ['a decision of format 2', proofOf('decisions', 2, leafTextOfRecord(record('decisions')))],
];
const unsigned = 'has a checkpoint that the key did not sign: its root, size, head, owner, chain or time was changed';
const ofAnother = 'has a text that is of another record, place or format than it names';

describe.each(proofs)('the proof of %s', (_name, proof) => {
  const fault = (over: Partial<Proof>) => faultOfProof(key, { ...proof, ...over });

  test('holds under its key alone', () => {
    expect(fault({})).toBeUndefined();
    expect(faultOfProof(stranger, proof)).toBe(`names the key ${keyIdOf(key)}, not ${keyIdOf(stranger)}`);
  });

  test('with anything else in its checkpoint is not signed', () => {
    const { checkpoint } = proof;
    for (const change of [
      { at: '2026-03-02T10:00:00.001Z' },
      { size: 6 },
      { head: previous },
      { treeRoot: previous },
      { signature: proofs.find(([, other]) => other !== proof)?.[1].checkpoint.signature ?? '' },
    ])
      expect(fault({ checkpoint: { ...checkpoint, ...change } })).toBe(unsigned);
    expect(fault({ ownerId: 'own_00000002' })).toBe(unsigned);
    expect(fault({ chain: proof.chain === 'audit' ? 'decisions' : 'audit' })).toBe(unsigned);
  });

  test('names its record, its place and its format', () => {
    expect(fault({ id: 'jr_2' })).toBe(ofAnother);
    expect(fault({ sequence: 4 })).toBe(ofAnother);
    expect(fault({ format: 3 - proof.format })).toBe(ofAnother);
    expect(fault({ format: 3 })).toBe(ofAnother);
    for (const text of ['no JSON', '{}', 'null', '[]']) expect(fault({ text })).toBe(ofAnother);
    expect(fault({ text: proof.text.replaceAll(ownerId, 'own_00000002') })).toBe(ofAnother);
  });

  test('has the text of its leaf, and the path from it to the root', () => {
    expect(fault({ text: `${proof.text} ` })).toBe('has a text that does not hash to its leaf: the text was changed');
    expect(fault({ path: proof.path.slice(1) })).toBe('has a path of 2 hashes; from its leaf to the root there are 3');
    expect(fault({ path: [...proof.path, hash] })).toBe(
      'has a path of 4 hashes; from its leaf to the root there are 3',
    );
    expect(fault({ path: proof.path.with(0, hash) })).toBe('does not lead from its leaf to the root of the checkpoint');
  });
});

test('a text of format 2 begins with the name and the number of its form', () => {
  const forged = (chain: ProvenChain, text: string) => faultOfProof(key, proofOf(chain, 2, text));
  const [name, own] = [leafText(3, at, journal), leafTextOfRecord(record('audit'))];
  expect(forged('journals', name.replace('bursar journal', 'bursar record'))).toBe(ofAnother);
  expect(forged('journals', name.replace('journal",2', 'journal",1'))).toBe(ofAnother);
  expect(forged('audit', own.replace('bursar record', 'bursar journal'))).toBe(ofAnother);
  expect(forged('audit', own.replace('record",2', 'record",3'))).toBe(ofAnother);
  expect(forged('audit', own.replace('"audit"', '"decisions"'))).toBe(ofAnother);
  expect(forged('audit', own.replace(/"\[.*?\]"/, '7'))).toBe(ofAnother);
  const old = sealedTextOfRecordFormat1(previous, record('audit'));
  const forgedOld = (text: string) => faultOfProof(key, proofOf('audit', 1, text));
  expect(forgedOld(old.replace('"audit"', '"decisions"'))).toBe(ofAnother);
  expect(forgedOld(old.replace('3,1,', '3,2,'))).toBe(ofAnother);
});

test('a text of format 1 is a leaf by its hash, one of format 2 by itself', () => {
  const sha = createHash('sha256').update('text').digest('hex');
  const leaf = (chain: ProvenChain, format: number) => leafOfText({ chain, format, sequence: 3, text: 'text' });
  expect(leaf('journals', 1)).toBe(leafHash(`["bursar seal",1,3,"${sha}"]`));
  expect(leaf('audit', 1)).toBe(leafHash(`["bursar record seal",1,"audit",3,"${sha}"]`));
  expect([leaf('journals', 2), leaf('audit', 2)]).toEqual([leafHash('text'), leafHash('text')]);
});

test('the text of a journal is that of its format', () => {
  const seal = { sequence: 3, hash, leaf: null, sealedAt: null };
  expect(provenText({ ...seal, format: 1 }, previous, journal)).toBe(sealedTextOfFormat1(previous, 3, journal));
  expect(provenText({ ...seal, format: 2, sealedAt: at }, previous, journal)).toBe(leafText(3, at, journal));
  expect(nounOf).toEqual({ journals: 'journal', audit: 'audit row', decisions: 'decision' });
});
