/**
 * Writes checkpoints: signs the heads of the chains that have grown, first to the files outside the database, then to
 * the database. A crash in between leaves one more file, whose content is valid.
 * @module
 */
import type { KeyObject } from 'node:crypto';
import * as z from 'zod';
import { rowsOf, runSql } from '../../../db/statement.ts';
import { tryLock } from '../../../db/try-lock.ts';
import type { Tx } from '../../../db/tx.ts';
import { later } from '../../../kernel/instant.ts';
import { type Checkpoint, type CheckpointHead, firstRoot, makeCheckpoint } from './checkpoint.rules.ts';
import type { CheckpointStore } from './checkpoint.store.ts';

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
  await keep(tx, checkpoint);
  return checkpoint;
}

/** Checkpoints are in order by their time, also where the machine's clock was set back. */
const after = (last: string | undefined, now: Date): string =>
  (last === undefined || Date.parse(last) < now.getTime() ? now : later(new Date(last), 1)).toISOString();

const ownHead = z.object({ ownerId: z.string(), sequence: z.int(), hash: z.string() });

async function movedHeads(tx: Tx): Promise<CheckpointHead[]> {
  const ofJournals = await rowsOf(
    tx,
    ownHead,
    'select owner_id as "ownerId", sequence, hash from ledger_heads where sequence > checkpointed_sequence',
  );
  const ofRecords = await rowsOf(
    tx,
    ownHead.extend({ chain: z.string() }),
    'select chain, owner_id as "ownerId", sequence, hash from record_heads where sequence > checkpointed_sequence',
  );
  return [...ofJournals, ...ofRecords];
}

async function keep(tx: Tx, checkpoint: Checkpoint): Promise<void> {
  await keepHeads(tx, checkpoint);
  await keepRecordHeads(tx, checkpoint);
}

async function keepRecordHeads(tx: Tx, { heads, at, keyId, root, rootSignature }: Checkpoint): Promise<void> {
  const ofRecords = heads.filter(({ chain }) => chain !== undefined);
  if (ofRecords.length === 0) return;
  await runSql(
    tx,
    `with head as (
       select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[])
         as h (chain, owner_id, sequence, hash, signature)
     ), kept as (
       insert into record_checkpoints
         (chain, owner_id, sequence, hash, signature, root, root_signature, key_id, created_at)
       select chain, owner_id, sequence, hash, signature, $6, $7, $8, $9::timestamptz from head
     )
     update record_heads h set checkpointed_sequence = head.sequence from head
     where h.chain = head.chain and h.owner_id = head.owner_id`,
    [
      ofRecords.map(({ chain }) => chain),
      ofRecords.map(({ ownerId }) => ownerId),
      ofRecords.map(({ sequence }) => sequence),
      ofRecords.map(({ hash }) => hash),
      ofRecords.map(({ signature }) => signature),
      root,
      rootSignature,
      keyId,
      at,
    ],
  );
}

async function keepHeads(tx: Tx, { heads: all, at, keyId, root, rootSignature }: Checkpoint): Promise<void> {
  const heads = all.filter(({ chain }) => chain === undefined);
  if (heads.length === 0) return;
  await runSql(
    tx,
    `with head as (
       select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) as h (owner_id, sequence, hash, signature)
     ), kept as (
       insert into ledger_checkpoints (owner_id, sequence, hash, signature, root, root_signature, key_id, created_at)
       select owner_id, sequence, hash, signature, $5, $6, $7, $8::timestamptz from head
     )
     update ledger_heads h set checkpointed_sequence = head.sequence from head where h.owner_id = head.owner_id`,
    [
      heads.map(({ ownerId }) => ownerId),
      heads.map(({ sequence }) => sequence),
      heads.map(({ hash }) => hash),
      heads.map(({ signature }) => signature),
      root,
      rootSignature,
      keyId,
      at,
    ],
  );
}
