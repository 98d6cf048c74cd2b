/** Reads the chains that have grown since their last checkpoint, each with its tree. Decides nothing. @module */
import * as z from 'zod';
import { rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { MerkleTree } from '../../../platform/record-chains/merkle.rules.ts';
import { treeOfRecords } from '../../../platform/record-chains/record-tree.ts';
import type { CheckpointHead } from './checkpoint.rules.ts';
import { treeOfJournals } from './tree.queries.ts';

export type MovedHead = CheckpointHead & { readonly treeRoot: string; readonly frontier: string };

const ownHead = z.object({
  ownerId: z.string(),
  sequence: z.int(),
  hash: z.string(),
  frontier: z.string().nullable(),
});
type OwnHead = Readonly<z.output<typeof ownHead>>;

export async function movedHeads(tx: Tx): Promise<MovedHead[]> {
  const moved: MovedHead[] = [];
  for (const head of await ofJournals(tx)) moved.push(withTree(head, await treeOfJournals(tx, head)));
  for (const head of await ofRecords(tx)) moved.push(withTree(head, await treeOfRecords(tx, head)));
  return moved;
}

const withTree = <Head extends OwnHead>(head: Head, tree: MerkleTree) => ({
  ...head,
  treeRoot: tree.root,
  frontier: tree.frontier,
});

const ofJournals = (tx: Tx): Promise<OwnHead[]> =>
  rowsOf(
    tx,
    ownHead,
    `select owner_id as "ownerId", sequence, hash, frontier from ledger_heads where sequence > checkpointed_sequence`,
  );

const ofRecords = (tx: Tx) =>
  rowsOf(
    tx,
    ownHead.extend({ chain: z.string() }),
    `select chain, owner_id as "ownerId", sequence, hash, frontier from record_heads
     where sequence > checkpointed_sequence`,
  );
