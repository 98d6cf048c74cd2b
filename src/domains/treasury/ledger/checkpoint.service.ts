/**
 * Writes checkpoints: signs the heads of the chains that have grown, first to the files outside the database, then to
 * the database. A crash in between leaves one more file, whose content is valid.
 * @module
 */
import type { KeyObject } from 'node:crypto';
import { runSql } from '../../../db/statement.ts';
import { tryLock } from '../../../db/try-lock.ts';
import type { Tx } from '../../../db/tx.ts';
import { later } from '../../../kernel/instant.ts';
import {
  type Checkpoint,
  type CheckpointHead,
  firstRoot,
  makeCheckpoint,
  type SignedHead,
} from './checkpoint.rules.ts';
import type { CheckpointStore } from './checkpoint.store.ts';
import { type MovedHead, movedHeads } from './moved-heads.queries.ts';

export type CheckpointKeeper = { readonly key: KeyObject; readonly store: CheckpointStore };

const lockKey = 8_400_111;

/** The checkpoint, or undefined where no chain has grown or another process is writing one. */
export async function writeCheckpoint(
  tx: Tx,
  { key, store }: CheckpointKeeper,
  realNow: () => Date = () => new Date(),
): Promise<Checkpoint | undefined> {
  if (!(await tryLock(tx, lockKey))) return undefined;
  const heads = await movedHeads(tx);
  if (heads.length === 0) return undefined;
  const last = await store.last();
  const checkpoint = makeCheckpoint(key, after(last?.at, realNow()), last?.root ?? firstRoot, heads);
  await store.add(checkpoint, key);
  await keep(tx, checkpoint, heads);
  return checkpoint;
}

/** Checkpoints are in order by their time, also where the machine's clock was set back. */
const after = (last: string | undefined, now: Date): string =>
  (last === undefined || Date.parse(last) < now.getTime() ? now : later(new Date(last), 1)).toISOString();

async function keep(tx: Tx, checkpoint: Checkpoint, moved: readonly MovedHead[]): Promise<void> {
  const frontiers = new Map(moved.map((head) => [nameOf(head), head.frontier]));
  const signed = checkpoint.heads.map((head) => ({ ...head, frontier: frontiers.get(nameOf(head)) ?? null }));
  await keepJournalHeads(
    tx,
    checkpoint,
    signed.filter(({ chain }) => chain === undefined),
  );
  await keepRecordHeads(
    tx,
    checkpoint,
    signed.filter(({ chain }) => chain !== undefined),
  );
}

const nameOf = ({ chain = '', ownerId }: CheckpointHead): string => `${chain}/${ownerId}`;

type KeptHead = SignedHead & { readonly frontier: string | null };

const columnsOf = (heads: readonly KeptHead[]): unknown[] => [
  heads.map(({ ownerId }) => ownerId),
  heads.map(({ sequence }) => sequence),
  heads.map(({ hash }) => hash),
  heads.map(({ signature }) => signature),
  heads.map(({ treeRoot }) => treeRoot ?? null),
  heads.map(({ frontier }) => frontier),
];

async function keepJournalHeads(
  tx: Tx,
  { at, keyId, root, rootSignature }: Checkpoint,
  heads: readonly KeptHead[],
): Promise<void> {
  if (heads.length === 0) return;
  await runSql(
    tx,
    `with head as (
       select * from unnest($5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[])
         as h (owner_id, sequence, hash, signature, tree_root, frontier)
     ), kept as (
       insert into ledger_checkpoints
         (owner_id, sequence, hash, signature, tree_root, frontier, root, root_signature, key_id, created_at)
       select owner_id, sequence, hash, signature, tree_root, frontier, $1, $2, $3, $4::timestamptz from head
     )
     update ledger_heads h set checkpointed_sequence = head.sequence from head where h.owner_id = head.owner_id`,
    [root, rootSignature, keyId, at, ...columnsOf(heads)],
  );
}

async function keepRecordHeads(
  tx: Tx,
  { at, keyId, root, rootSignature }: Checkpoint,
  heads: readonly KeptHead[],
): Promise<void> {
  if (heads.length === 0) return;
  await runSql(
    tx,
    `with head as (
       select * from unnest($5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[])
         as h (owner_id, sequence, hash, signature, tree_root, frontier, chain)
     ), kept as (
       insert into record_checkpoints
         (chain, owner_id, sequence, hash, signature, tree_root, frontier, root, root_signature, key_id, created_at)
       select chain, owner_id, sequence, hash, signature, tree_root, frontier, $1, $2, $3, $4::timestamptz from head
     )
     update record_heads h set checkpointed_sequence = head.sequence from head
     where h.chain = head.chain and h.owner_id = head.owner_id`,
    [root, rootSignature, keyId, at, ...columnsOf(heads), heads.map(({ chain }) => chain)],
  );
}
