/** Reads the leaves of an owner's journals, and the tree that they make. Decides nothing. @module */
import * as z from 'zod';
import { rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { isFrontierOf, MerkleTree } from '../../../platform/record-chains/merkle.rules.ts';
import { leafOf } from './seal.rules.ts';

const sealRow = z.object({ sequence: z.int(), hash: z.string(), leaf: z.string().nullable() });
const batchSize = 10_000;

type Through = { readonly ownerId: string; readonly sequence: number };

/** Of the journals 1 to `sequence`, in their order. */
export async function* leavesOfJournals(tx: Tx, { ownerId, sequence }: Through): AsyncIterable<string> {
  for (let after = 0; ; ) {
    const seals = await rowsOf(
      tx,
      sealRow,
      `select sequence, hash, leaf from journal_seals
       where owner_id = $1 and sequence > $2 and sequence <= $3 order by sequence limit $4`,
      [ownerId, after, sequence, batchSize],
    );
    for (const seal of seals) yield leafOf(seal);
    after = seals.at(-1)?.sequence ?? after;
    if (seals.length < batchSize) return;
  }
}

/** From its frontier; from its leaves where there is none, or one that was tampered with and fits no such tree. */
export const treeOfJournals = (
  tx: Tx,
  { frontier, ...through }: Through & { readonly frontier: string | null },
): Promise<MerkleTree> | MerkleTree =>
  frontier !== null && isFrontierOf(through.sequence, frontier)
    ? new MerkleTree(through.sequence, frontier)
    : treeOf(leavesOfJournals(tx, through));

export async function treeOf(leaves: AsyncIterable<string>): Promise<MerkleTree> {
  const tree = new MerkleTree();
  for await (const leaf of leaves) tree.append(leaf);
  return tree;
}
