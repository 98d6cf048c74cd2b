/**
 * Seals an owner's journals again after they were rewritten, as an attacker does who knows the format: every leaf,
 * seal and head fits again. Only what was signed before shows the difference.
 * @module
 */
import type { Tx } from '../../src/db/tx.ts';
import { sealedAfter } from '../../src/domains/treasury/ledger/journal.queries.ts';
import { genesis, leafText, sealOf } from '../../src/domains/treasury/ledger/seal.rules.ts';
import { leafHash, MerkleTree } from '../../src/platform/record-chains/merkle.rules.ts';

/** `rewrite` runs a statement as the role that owns the tables, with triggers switched off. */
export async function sealAgain(
  tx: Tx,
  ownerId: string,
  rewrite: (text: string, params: readonly unknown[]) => Promise<unknown>,
): Promise<MerkleTree> {
  let previous = genesis;
  const tree = new MerkleTree();
  for (const journal of await sealedAfter(tx, ownerId, 0, 100)) {
    const leaf = leafHash(leafText(journal.seal?.sequence ?? 0, journal.seal?.sealedAt ?? '', journal));
    previous = sealOf(previous, leaf);
    tree.append(leaf);
    await rewrite('update journal_seals set leaf = $1, hash = $2 where journal_id = $3', [leaf, previous, journal.id]);
  }
  await rewrite('update ledger_heads set hash = $1, frontier = $2 where owner_id = $3', [
    ...[previous, tree.frontier, ownerId],
  ]);
  return tree;
}
