/** Reads the leaves of a chain of records, and the tree that they make. Decides nothing. @module */
import * as z from 'zod';
import { rowsOf } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import { isFrontierOf, MerkleTree } from './merkle.rules.ts';
import { leafOfRecord } from './record-chain.rules.ts';

const sealRow = z.object({ sequence: z.int(), hash: z.string(), leaf: z.string().nullable() });
const batchSize = 10_000;

type Through = { readonly chain: string; readonly ownerId: string; readonly sequence: number };

/** Of the records 1 to `sequence`, in their order. */
export async function* leavesOfRecords(tx: Tx, { chain, ownerId, sequence }: Through): AsyncIterable<string> {
  for (let after = 0; ; ) {
    const seals = await rowsOf(
      tx,
      sealRow,
      `select sequence, hash, leaf from record_seals
       where chain = $1 and owner_id = $2 and sequence > $3 and sequence <= $4 order by sequence limit $5`,
      [chain, ownerId, after, sequence, batchSize],
    );
    for (const seal of seals) yield leafOfRecord(chain, seal);
    after = seals.at(-1)?.sequence ?? after;
    if (seals.length < batchSize) return;
  }
}

/** From its frontier; from its leaves where there is none, or one that was tampered with and fits no such tree. */
export async function treeOfRecords(
  tx: Tx,
  { frontier, ...through }: Through & { readonly frontier: string | null },
): Promise<MerkleTree> {
  if (frontier !== null && isFrontierOf(through.sequence, frontier)) return new MerkleTree(through.sequence, frontier);
  const tree = new MerkleTree();
  for await (const leaf of leavesOfRecords(tx, through)) tree.append(leaf);
  return tree;
}
