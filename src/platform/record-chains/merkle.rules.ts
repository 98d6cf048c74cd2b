/**
 * Merkle trees as in RFC 9162, 2.1: append-only, SHA-256, 0x00 before a leaf and 0x01 before a node. A leaf can be
 * proven under the root without showing the others. Hashes are hex. Pure but for a tree's own state.
 * @module
 */
import { createHash } from 'node:crypto';
import { assert } from '../../kernel/assert.ts';

const leafPrefix = Buffer.of(0);
const nodePrefix = Buffer.of(1);

export const leafHash = (data: string | Uint8Array): string =>
  createHash('sha256').update(leafPrefix).update(data).digest('hex');

const nodeHash = (left: string, right: string): string =>
  createHash('sha256').update(nodePrefix).update(left, 'hex').update(right, 'hex').digest('hex');

const emptyRoot = createHash('sha256').digest('hex');

/** Whether a tree of that size has a frontier of this form. */
export const isFrontierOf = (size: number, frontier: string): boolean =>
  /^[0-9a-f]*$/.test(frontier) && frontier.length === 64 * onesIn(size);

/** Keeps only the roots of its full subtrees, largest first: enough to append leaves and to know the root. */
export class MerkleTree {
  private count: number;
  private readonly peaks: string[];

  /** `frontier` as an earlier tree of that size gave it. */
  constructor(size = 0, frontier = '') {
    this.count = size;
    this.peaks = frontier.match(/[0-9a-f]{64}/g) ?? [];
    assert(isFrontierOf(size, frontier), `the frontier has a hash for each full subtree of a tree of ${size}`);
  }

  get size(): number {
    return this.count;
  }

  get frontier(): string {
    return this.peaks.join('');
  }

  get root(): string {
    const [last = emptyRoot, ...larger] = this.peaks.toReversed();
    return larger.reduce((right, left) => nodeHash(left, right), last);
  }

  append(leaf: string): void {
    let hash = leaf;
    for (let rest = this.count; rest % 2 === 1; rest = (rest - 1) / 2) hash = nodeHash(this.peaks.pop() ?? '', hash);
    this.peaks.push(hash);
    this.count += 1;
  }
}

export function merkleRoot(leaves: Iterable<string>): string {
  const tree = new MerkleTree();
  for (const leaf of leaves) tree.append(leaf);
  return tree.root;
}

/** The hashes that lead from the leaf at `index` to the root of all `leaves`, lowest first. */
export function inclusionPath(leaves: readonly string[], index: number): string[] {
  assert(index >= 0 && index < leaves.length, `a tree of ${leaves.length} has a leaf ${index}`);
  const path: string[] = [];
  let level = leaves;
  for (let at = index; level.length > 1; at = Math.floor(at / 2)) {
    const sibling = level[at % 2 === 0 ? at + 1 : at - 1];
    if (sibling !== undefined) path.push(sibling);
    level = levelAbove(level);
  }
  return path;
}

/** A last node without a sibling is the same node one level up. */
function levelAbove(level: readonly string[]): string[] {
  const above: string[] = [];
  for (let at = 0; at < level.length; at += 2) {
    const [left = '', right] = [level[at], level[at + 1]];
    above.push(right === undefined ? left : nodeHash(left, right));
  }
  return above;
}

/** How many hashes lead from the leaf at `index` to the root of a tree of `size`. */
export function pathLength(index: number, size: number): number {
  let length = 0;
  for (let at = index, last = size - 1; last > 0; last = Math.floor(last / 2)) {
    if (at % 2 === 1 || at < last) length += 1;
    at = Math.floor(at / 2);
  }
  return length;
}

export type Inclusion = {
  readonly leaf: string;
  readonly index: number;
  readonly size: number;
  readonly path: readonly string[];
  readonly root: string;
};

/** As RFC 9162, 2.1.3.2 prescribes: false for another leaf, another place, another size or another root. */
export function isIncluded({ leaf, index, size, path, root }: Inclusion): boolean {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return false;
  let at = index;
  let last = size - 1;
  let hash = leaf;
  for (const sibling of path) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sibling, hash);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else {
      hash = nodeHash(hash, sibling);
    }
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 && hash === root;
}

function onesIn(size: number): number {
  let ones = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2;
  return ones;
}
