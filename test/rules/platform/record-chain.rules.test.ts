/** A chain of records: every change of a record, and every record that is missing, is named; what was erased is none. @module */
import { describe, expect, test } from '@jest/globals';
import { leafHash } from '../../../src/platform/record-chains/merkle.rules.ts';
import {
  faultsOfRecord,
  genesisOfRecords,
  leafOfRecord,
  leafTextOfRecord,
  leafTextOfRecordFormat1,
  type RecordFacts,
  type RecordSalts,
  type RecordSeal,
  recordCommitment,
  sealedTextOfRecordFormat1,
  sealOfRecord,
  sealOfRecordFormat1,
} from '../../../src/platform/record-chains/record-chain.rules.ts';

const chain = 'audit';
const head = { sequence: 6, hash: 'a'.repeat(64) };
const found: RecordFacts & RecordSalts = {
  ...{ recordId: 'aud_1', facts: '["own_1","x"]', address: '192.0.2.1', texts: 'a memo' },
  ...{ addressSalt: 'salt 1', textSalt: 'salt 2' },
};
const sealed = {
  ...{ chain, sequence: 7, recordId: 'aud_1', facts: found.facts },
  addressCommitment: recordCommitment('192.0.2.1', 'salt 1'),
  textCommitment: recordCommitment('a memo', 'salt 2'),
};
const leaf = leafHash(leafTextOfRecord(sealed));
const { chain: _chain, facts: _facts, ...ofSeal } = sealed;
const second: RecordSeal = { ...ofSeal, format: 2, leaf, hash: sealOfRecord(head.hash, leaf) };
const first: RecordSeal = { ...ofSeal, format: 1, leaf: null, hash: sealOfRecordFormat1(head.hash, sealed) };

const changed = 'does not match its seal 7: the record, or the seal before it, was changed';
const faults = (seal: Partial<RecordSeal>, of: Partial<typeof found> = {}, base = second) =>
  faultsOfRecord(chain, head, { ...base, ...seal }, { ...found, ...of });

describe.each([
  ['1', first],
  ['2', second],
])('a record of format %s', (_format, seal) => {
  test('as it was sealed has no fault', () => {
    expect(faults({}, {}, seal)).toEqual([]);
  });

  test('with other facts, another id, another chain or another seal before it was changed', () => {
    expect(faults({}, { facts: '["own_2","x"]' }, seal)).toEqual([changed]);
    expect(faults({ recordId: 'aud_2' }, {}, seal)).toEqual([changed]);
    expect(faultsOfRecord('decisions', head, seal, found)).toEqual([changed]);
    expect(faultsOfRecord(chain, { ...head, hash: 'b'.repeat(64) }, seal, found)).toEqual([changed]);
    expect(faults({ hash: 'b'.repeat(64) }, {}, seal)).toEqual([changed]);
  });

  test('with another address or text than the one that was sealed says which', () => {
    expect(faults({}, { address: '192.0.2.2' }, seal)).toEqual(['has another address than the one that was sealed']);
    expect(faults({}, { texts: 'another' }, seal)).toEqual(['has another text than the one that was sealed']);
    expect(faults({}, { textSalt: null }, seal)).toEqual(['has another text than the one that was sealed']);
  });

  test('whose address and text were erased with their salts has no fault, and one that lost them has', () => {
    const erased = { address: null, addressSalt: null, texts: null, textSalt: null };
    expect(faults({}, erased, seal)).toEqual([]);
    expect(faults({}, { address: null, texts: null }, seal)).toEqual([
      ...['has lost its address without a purge', 'has lost its text without a purge'],
    ]);
  });
});

test('a leaf that is not the record’s own is a fault, also under a right seal', () => {
  const other = leafHash('another');
  expect(faults({ leaf: other, hash: sealOfRecord(head.hash, other) })).toEqual([changed]);
  expect(faults({ leaf: null })).toEqual([changed]);
});

test('a record without address and text is sealed without commitments', () => {
  const bare = { ...sealed, addressCommitment: null, textCommitment: null };
  const own = leafHash(leafTextOfRecord(bare));
  const seal = { addressCommitment: null, textCommitment: null, leaf: own, hash: sealOfRecord(head.hash, own) };
  expect(faults(seal, { address: null, texts: null })).toEqual([]);
  expect(faults(seal, { texts: null })).toEqual(['has another address than the one that was sealed']);
});

test('seals that are missing, a record that is gone and a format that is unknown are named', () => {
  const gap = 'has the sequence 9 after 6: seals are missing';
  expect(faults({ sequence: 9 })).toEqual([gap, changed.replace('seal 7', 'seal 9')]);
  expect(faults({ sequence: 6 })[0]).toBe('has the sequence 6 after 6: seals are missing');
  expect(faultsOfRecord(chain, head, second, undefined)).toEqual(['was sealed as number 7 and is gone']);
  expect(faultsOfRecord(chain, head, { ...second, sequence: 9 }, undefined)).toEqual([
    ...[gap, 'was sealed as number 9 and is gone'],
  ]);
  expect(faults({ format: 3 })).toEqual(['has the unknown format 3']);
  expect(faults({ format: 3, sequence: 9 })).toEqual([gap, 'has the unknown format 3']);
});

test('the texts that are hashed are those that the document on audits gives', () => {
  const commitments = JSON.stringify([sealed.addressCommitment, sealed.textCommitment]).slice(1);
  const facts = JSON.stringify(found.facts);
  expect(leafTextOfRecord(sealed)).toBe(`["bursar record",2,"audit",7,"aud_1",${facts},${commitments}`);
  expect(sealedTextOfRecordFormat1(head.hash, sealed)).toBe(
    `["${head.hash}","audit",7,1,"aud_1",${facts},${commitments}`,
  );
  expect(leafTextOfRecordFormat1(chain, 7, first.hash)).toBe(`["bursar record seal",1,"audit",7,"${first.hash}"]`);
  expect(leafOfRecord(chain, second)).toBe(leaf);
  expect(leafOfRecord(chain, first)).toBe(leafHash(leafTextOfRecordFormat1(chain, 7, first.hash)));
  expect(genesisOfRecords).toMatch(/^0{64}$/);
});

test('hashes are those of golden vectors, made with sha256sum', () => {
  expect(sealOfRecord('p', 'l')).toBe('3f6a1d3c9cbb3d353b4116f15597ba6b3b3934e0661c99d3438d21ed45be1c2b');
  expect(recordCommitment('text', 'salt')).toBe('e663292000f4d8219846ddd9f060c65556ab3c19c1f580fff2642b498808e3f4');
});
