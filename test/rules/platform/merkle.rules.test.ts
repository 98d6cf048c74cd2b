/** Merkle trees against the reference vectors of RFC 6962 and against the recursive definition of RFC 9162. @module */
import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  inclusionPath,
  isIncluded,
  leafHash,
  MerkleTree,
  merkleRoot,
  pathLength,
} from '../../../src/platform/record-chains/merkle.rules.ts';

/** The leaves and roots that implementations of Certificate Transparency are tested with. */
const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const leaves = inputs.map((input) => leafHash(Buffer.from(input, 'hex')));

test.each(roots.map((root, size) => [size, root] as const))(
  'a tree of %i has the root of the vectors',
  (size, root) => {
    expect(merkleRoot(leaves.slice(0, size))).toBe(root);
  },
);

test('a path is the one of the vectors', () => {
  expect(inclusionPath(leaves.slice(0, 1), 0)).toEqual([]);
  expect(inclusionPath(leaves, 5)).toEqual([
    'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  ]);
});

const sha = (...parts: Buffer[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();
const greatestPowerBelow = (n: number): number => 2 ** Math.floor(Math.log2(n - 1));

/** RFC 9162, 2.1.1, word for word. */
function treeHash(data: readonly Buffer[]): Buffer {
  const [only] = data;
  if (only === undefined) return sha();
  if (data.length === 1) return sha(Buffer.of(0), only);
  const k = greatestPowerBelow(data.length);
  return sha(Buffer.of(1), treeHash(data.slice(0, k)), treeHash(data.slice(k)));
}

/** RFC 9162, 2.1.3.1, word for word. */
function pathOf(m: number, data: readonly Buffer[]): Buffer[] {
  if (data.length === 1) return [];
  const k = greatestPowerBelow(data.length);
  return m < k
    ? [...pathOf(m, data.slice(0, k)), treeHash(data.slice(k))]
    : [...pathOf(m - k, data.slice(k)), treeHash(data.slice(0, k))];
}

const data = fc.array(fc.uint8Array({ maxLength: 4 }), { minLength: 1, maxLength: 40 });

test('roots and paths are those of the definition, from one run of appends or from a kept frontier', () => {
  fc.assert(
    fc.property(data, fc.nat(), fc.nat(), (all, some, other) => {
      const buffers = all.map((bytes) => Buffer.from(bytes));
      const hashes = buffers.map((bytes) => leafHash(bytes));
      const cut = other % (all.length + 1);
      const before = new MerkleTree();
      for (const leaf of hashes.slice(0, cut)) before.append(leaf);
      const after = new MerkleTree(cut, before.frontier);
      for (const leaf of hashes.slice(cut)) after.append(leaf);
      expect([before.size, after.size]).toEqual([cut, all.length]);
      expect(after.root).toBe(treeHash(buffers).toString('hex'));
      const index = some % all.length;
      expect(inclusionPath(hashes, index)).toEqual(pathOf(index, buffers).map((hash) => hash.toString('hex')));
    }),
  );
});

test('a proof holds for its leaf, place, size and root, and for nothing else', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(), (size, some) => {
      const hashes = Array.from({ length: size }, (_, n) => leafHash(`leaf ${n}`));
      const index = some % size;
      const proof = {
        leaf: hashes[index] ?? '',
        index,
        size,
        path: inclusionPath(hashes, index),
        root: merkleRoot(hashes),
      };
      expect(isIncluded(proof)).toBe(true);
      expect(isIncluded({ ...proof, leaf: leafHash('another') })).toBe(false);
      expect(isIncluded({ ...proof, root: leafHash('another') })).toBe(false);
      expect(isIncluded({ ...proof, path: [...proof.path, leafHash('more')] })).toBe(false);
      if (size > 1) expect(isIncluded({ ...proof, path: proof.path.slice(1) })).toBe(false);
      for (const moved of Array.from({ length: size }, (_, n) => n).filter((n) => n !== index))
        expect(isIncluded({ ...proof, index: moved })).toBe(false);
      for (const place of [-1, size, 0.5]) expect(isIncluded({ ...proof, index: place })).toBe(false);
    }),
  );
});

test('a proof does not hold for a tree of another size', () => {
  const hashes = Array.from({ length: 20 }, (_, n) => leafHash(`leaf ${n}`));
  for (let size = 1; size <= 20; size++) {
    for (let index = 0; index < size; index++) {
      const some = hashes.slice(0, size);
      const proof = { leaf: some[index] ?? '', index, path: inclusionPath(some, index) };
      for (let other = 1; other <= 20; other++)
        expect(isIncluded({ ...proof, size: other, root: merkleRoot(hashes.slice(0, other)) })).toBe(other === size);
    }
  }
});

test('a frontier of another size is refused', () => {
  expect(() => new MerkleTree(3, 'a'.repeat(64))).toThrow(/a tree of 3/);
  expect(() => new MerkleTree(1, 'a'.repeat(63))).toThrow(/a tree of 1/);
  expect(() => new MerkleTree(1, 'g'.repeat(64))).toThrow(/a tree of 1/);
  expect(() => new MerkleTree(1, `${'a'.repeat(63)}g`)).toThrow(/a tree of 1/);
});

test('the length of a path is known without the leaves', () => {
  for (let size = 1; size <= 20; size++) {
    const some = Array.from({ length: size }, (_, n) => leafHash(`leaf ${n}`));
    for (let index = 0; index < size; index++)
      expect([index, size, pathLength(index, size)]).toEqual([index, size, inclusionPath(some, index).length]);
  }
});

test('a leaf that the tree does not have has no path', () => {
  expect(() => inclusionPath(leaves, 8)).toThrow('a tree of 8 has a leaf 8');
  expect(() => inclusionPath(leaves, -1)).toThrow('a tree of 8 has a leaf -1');
});

test('a path that is longer than the tree is high proves nothing, although it leads to the root', () => {
  const [first = '', second = ''] = leaves;
  const root = merkleRoot([first, second]);
  expect(isIncluded({ leaf: second, index: 1, size: 2, path: [first], root })).toBe(true);
  expect(isIncluded({ leaf: second, index: 0, size: 1, path: [first], root })).toBe(false);
});
