/**
 * Checks of business records for one owner: the chains of audit rows and decisions, and the reconciliation queries that
 * the areas registered. Reads in the caller's snapshot and reports differences; repairs nothing.
 * @module
 */
import * as z from 'zod';
import { firstRowOf, rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { ReconciliationQuery } from '../../../platform/reconciliation.ts';
import { MerkleTree } from '../../../platform/record-chains/merkle.rules.ts';
import { genesisOfRecords, type RecordHead } from '../../../platform/record-chains/record-chain.rules.ts';
import type { RecordChain } from '../../../platform/record-chains/record-chain.ts';
import { treeOfRecords } from '../../../platform/record-chains/record-tree.ts';
import { recordHead } from '../../../platform/record-chains/seal-records.ts';
import { verifyRecords } from '../../../platform/record-chains/verify-records.ts';
import { asSigned, leadsTo, type StoredCheckpoint, storedCheckpoint } from './verify.queries.ts';
import type { BookCheck } from './verify.rules.ts';

export type RecordVerification = {
  readonly chain: string;
  readonly sealedThrough: number;
  readonly unsealed: number;
};

/** Each query has its own columns, which it describes itself. */
const differenceRow = z.record(z.string(), z.unknown());

/** The name of the query is the subject of its differences. */
export async function reconcile(
  tx: Tx,
  ownerId: string,
  queries: readonly ReconciliationQuery[],
  book: BookCheck,
): Promise<void> {
  for (const { name, sql, describe } of queries) {
    const different = await rowsOf(tx, differenceRow, `select * from (${sql}) difference limit 100`, [ownerId]);
    for (const row of different) book.differs('reconciliation', name, describe(row));
  }
}

export type StoredRecordCheckpoint = StoredCheckpoint & { readonly chain: string };

type CheckCheckpoint = (checkpoint: StoredRecordCheckpoint, rootThen: string | undefined) => void;

/** In full, or from the chain's last checkpoint that an earlier check found whole. */
export async function checkRecords(
  tx: Tx,
  { ownerId, full }: { readonly ownerId: string; readonly full: boolean },
  chain: RecordChain,
  book: BookCheck,
  checkCheckpoint: CheckCheckpoint,
): Promise<RecordVerification & { readonly checkpoint: number }> {
  const from = (full ? undefined : await lastVerified(tx, chain, ownerId)) ?? start;
  const tree = from === start ? new MerkleTree() : await treeOfRecords(tx, { ...from, chain: chain.name, ownerId });
  const checkpoints = await recordCheckpointsOf(tx, chain, ownerId, from.sequence);
  const rootsAt = new Set(checkpoints.map(({ sequence }) => sequence));
  const { roots, ...checked } = await verifyRecords(tx, chain, { ownerId, from, tree, rootsAt }, (recordId, message) =>
    book.differs('record', `${chain.noun} ${recordId}`, message),
  );
  for (const checkpoint of checkpoints) checkCheckpoint(checkpoint, roots.get(checkpoint.sequence));
  return { chain: chain.name, ...checked, checkpoint: checkpoints.at(-1)?.sequence ?? 0 };
}

type VerifiedHead = RecordHead & { readonly frontier: string | null };

const start: VerifiedHead = { sequence: 0, hash: genesisOfRecords, frontier: '' };

const checkpointRow = storedCheckpoint.extend({ chain: z.string() });

async function recordCheckpointsOf(
  tx: Tx,
  { name }: RecordChain,
  ownerId: string,
  after: number,
): Promise<StoredRecordCheckpoint[]> {
  const found = await rowsOf(
    tx,
    checkpointRow,
    `select c.chain, c.owner_id as "ownerId", c.sequence, c.hash, c.tree_root as "treeRoot", c.signature,
       c.created_at as at, c.key_id as "keyId", c.root, c.root_signature as "rootSignature", s.hash as "sealHash"
     from record_checkpoints c
     left join record_seals s on s.chain = c.chain and s.owner_id = c.owner_id and s.sequence = c.sequence
     where c.chain = $1 and c.owner_id = $2 and c.sequence > $3 order by c.sequence`,
    [name, ownerId, after],
  );
  return found.map(asSigned);
}

/** Its frontier leads to the root that was signed, so it is the one of that time. */
async function lastVerified(tx: Tx, { name }: RecordChain, ownerId: string): Promise<VerifiedHead | undefined> {
  const found = await firstRowOf(
    tx,
    recordHead.extend({ frontier: z.string().nullable(), treeRoot: z.string().nullable() }),
    `select c.sequence, c.hash, c.frontier, c.tree_root as "treeRoot" from record_verified v
     join record_checkpoints c on c.chain = v.chain and c.owner_id = v.owner_id and c.sequence = v.sequence
     join record_seals s on s.chain = c.chain and s.owner_id = c.owner_id and s.sequence = c.sequence and s.hash = c.hash
     where v.chain = $1 and v.owner_id = $2`,
    [name, ownerId],
  );
  return found !== undefined && leadsTo(found) ? found : undefined;
}

export const noteVerifiedRecords = (tx: Tx, chain: string, ownerId: string, sequence: number): Promise<unknown> =>
  runSql(
    tx,
    `insert into record_verified as v (chain, owner_id, sequence) values ($1, $2, $3)
     on conflict (chain, owner_id) do update set sequence = greatest(v.sequence, excluded.sequence)`,
    [chain, ownerId, sequence],
  );
