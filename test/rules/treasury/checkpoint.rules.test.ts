/** The texts and hashes of a checkpoint as docs/ledger.md gives them, and what is wrong with one, in words. @module */
import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import {
  type Checkpoint,
  checkpointCursor,
  faultOf,
  firstRoot,
  headText,
  isSignedHead,
  keyIdOf,
  makeCheckpoint,
  publicPemOf,
} from '../../../src/domains/treasury/ledger/checkpoint.rules.ts';
import { leafHash, merkleRoot } from '../../../src/platform/record-chains/merkle.rules.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const at = '2026-03-02T10:00:00.000Z';
const [hash, treeRoot] = ['a'.repeat(64), 'b'.repeat(64)];
const head = { ownerId: 'own_b', sequence: 7, hash, treeRoot };
/** Journals, audit and decisions of one owner, and another owner's journals, in no order. */
const heads = [{ ...head, chain: 'decisions' }, head, { ...head, ownerId: 'own_a' }, { ...head, chain: 'audit' }];
const checkpoint = makeCheckpoint(privateKey, at, firstRoot, heads);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

test('the text of a head names its chain, and the format by its first words', () => {
  expect(headText(at, head)).toBe(`bursar checkpoint 2\n${at}\nown_b\njournals\n7\n${treeRoot}\n${hash}`);
  expect(headText(at, { ...head, chain: 'audit' })).toBe(
    `bursar checkpoint 2\n${at}\nown_b\naudit\n7\n${treeRoot}\n${hash}`,
  );
  const { treeRoot: _none, ...old } = head;
  expect(headText(at, old)).toBe(`bursar checkpoint\n${at}\nown_b\n7\n${hash}`);
  expect(headText(at, { ...old, chain: 'audit' })).toBe(`bursar checkpoint\n${at}\nown_b\n7\n${hash}\naudit`);
});

test('heads are sorted by owner and chain, each as it was given and signed', () => {
  const sorted = [{ ...head, ownerId: 'own_a' }, head, { ...head, chain: 'audit' }, { ...head, chain: 'decisions' }];
  expect(checkpoint.heads.map(({ signature: _of, ...rest }) => rest)).toStrictEqual(sorted);
  for (const one of checkpoint.heads) expect(isSignedHead(privateKey, at, one)).toBe(true);
  expect(makeCheckpoint(privateKey, at, firstRoot, heads.toReversed())).toEqual(checkpoint);
});

test('the root is the hash of the time, the root before it and the tree of the heads', () => {
  const tree = merkleRoot(checkpoint.heads.map((one) => leafHash(headText(at, one))));
  expect(checkpoint.root).toBe(sha256(`bursar checkpoints 2\n${at}\n${firstRoot}\n4\n${tree}`));
  expect(checkpoint).toMatchObject({ version: 2, at, previousRoot: '0'.repeat(64), keyId: keyIdOf(privateKey) });
});

test('what is wrong with a checkpoint is said in words', () => {
  const [first, ...others] = checkpoint.heads as [Checkpoint['heads'][number]];
  const why = (over: Partial<Checkpoint>) => faultOf(privateKey, { ...checkpoint, ...over });
  const signature = checkpoint.rootSignature;
  expect(why({})).toBeUndefined();
  expect(why({ keyId: 'x' })).toBe(`is signed by the key x, not by ${keyIdOf(privateKey)}`);
  expect(why({ heads: [{ ...first, treeRoot: undefined }, ...others] })).toBe('mixes heads of two formats');
  expect(why({ heads: others })).toBe('names another root than its heads give');
  expect(why({ rootSignature: first.signature })).toBe('has a root signature that is not ours');
  expect(why({ heads: [{ ...first, signature }, ...others] })).toBe('has a signature for own_a that is not ours');
});

test('a key has one id and one public form, whichever of its halves is at hand', () => {
  const publicKey = createPublicKey(privateKey);
  expect(publicPemOf(privateKey)).toBe(publicKey.export({ type: 'spki', format: 'pem' }));
  expect(publicPemOf(publicKey)).toBe(publicPemOf(privateKey));
  const der = publicKey.export({ type: 'spki', format: 'der' });
  expect(keyIdOf(publicKey)).toBe(createHash('sha256').update(der).digest('hex').slice(0, 16));
  expect(keyIdOf(privateKey)).toBe(keyIdOf(publicKey));
});

test('a page of checkpoints ends with a sequence', () => {
  expect(checkpointCursor.idOf(3)).toBe('sequence_3');
});
