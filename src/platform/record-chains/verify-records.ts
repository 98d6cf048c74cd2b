/**
 * Recomputes the chain of one kind of record of one owner, in the caller's snapshot, and reports changed, deleted or
 * inserted records. Changes nothing.
 * @module
 */
import * as z from 'zod';
import { countRow } from '../../db/row-values.ts';
import { firstRowOf, oneRowOf, rowsOf } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import type { MerkleTree } from './merkle.rules.ts';
import {
  faultsOfRecord,
  leafOfRecord,
  type RecordHead,
  type RecordSalts,
  type RecordSeal,
} from './record-chain.rules.ts';
import type { RecordChain } from './record-chain.ts';
import { factsOf, recordHead } from './seal-records.ts';

const batchSize = 1_000;

export type RecordsChecked = {
  readonly sealedThrough: number;
  readonly unsealed: number;
  /** The tree's root at each sequence asked for. */
  readonly roots: ReadonlyMap<number, string>;
};
export type CheckFrom = {
  readonly ownerId: string;
  /** The last seal that was found whole before; the genesis for a check of all records. */
  readonly from: RecordHead;
  readonly tree: MerkleTree;
  readonly rootsAt: ReadonlySet<number>;
};
export type ReportRecord = (recordId: string, message: string) => void;

export async function verifyRecords(
  tx: Tx,
  chain: RecordChain,
  { ownerId, from, tree, rootsAt }: CheckFrom,
  report: ReportRecord,
): Promise<RecordsChecked> {
  const roots = new Map<number, string>();
  let head = from;
  for (;;) {
    const seals = await sealsAfter(tx, chain, ownerId, head.sequence);
    const facts = await factsOf(tx, chain, seals);
    for (const seal of seals) {
      const record = facts.get(seal.recordId);
      const found = record === undefined ? undefined : { ...record, ...seal };
      for (const fault of faultsOfRecord(chain.name, head, seal, found)) report(seal.recordId, fault);
      tree.append(leafOfRecord(chain.name, seal));
      if (rootsAt.has(seal.sequence)) roots.set(seal.sequence, tree.root);
      head = seal;
    }
    if (seals.length < batchSize) break;
  }
  await verifyHead(tx, chain, { ownerId, head, frontier: tree.frontier }, report);
  await verifyPresence(tx, chain, { ownerId, from }, report);
  return { sealedThrough: head.sequence, unsealed: await unsealedOf(tx, chain, ownerId), roots };
}

const sealRow: z.ZodType<RecordSeal & RecordSalts> = z.object({
  sequence: z.int(),
  recordId: z.string(),
  format: z.int(),
  addressCommitment: z.string().nullable(),
  textCommitment: z.string().nullable(),
  leaf: z.string().nullable(),
  hash: z.string(),
  addressSalt: z.string().nullable(),
  textSalt: z.string().nullable(),
});

const sealsAfter = (
  tx: Tx,
  { name }: RecordChain,
  ownerId: string,
  after: number,
): Promise<(RecordSeal & RecordSalts)[]> =>
  rowsOf(
    tx,
    sealRow,
    `select s.sequence, s.record_id as "recordId", s.format, s.address_commitment as "addressCommitment",
       s.text_commitment as "textCommitment", s.leaf, s.hash, t.address_salt as "addressSalt", t.text_salt as "textSalt"
     from record_seals s left join record_salts t on t.chain = s.chain and t.record_id = s.record_id
     where s.chain = $1 and s.owner_id = $2 and s.sequence > $3 order by s.sequence limit $4`,
    [name, ownerId, after, batchSize],
  );

async function verifyHead(
  tx: Tx,
  { name, noun }: RecordChain,
  { ownerId, head, frontier }: { readonly ownerId: string; readonly head: RecordHead; readonly frontier: string },
  report: ReportRecord,
): Promise<void> {
  const kept = await firstRowOf(
    tx,
    recordHead.extend({ frontier: z.string().nullable() }),
    'select sequence, hash, frontier from record_heads where chain = $1 and owner_id = $2',
    [name, ownerId],
  );
  if ((kept?.sequence ?? 0) !== head.sequence || (kept !== undefined && kept.hash !== head.hash))
    report(ownerId, `has ${kept?.sequence ?? 0} as the last ${noun} of its chain, its seals end at ${head.sequence}`);
  else if ((kept?.frontier ?? frontier) !== frontier)
    report(ownerId, `has another tree of its chain than each ${noun} in it gives`);
}

/** Over all records, also those before `from`: a sealed one that is gone, and one that has no seal and waits for none. */
async function verifyPresence(
  tx: Tx,
  { name, select }: RecordChain,
  { ownerId, from }: Pick<CheckFrom, 'ownerId' | 'from'>,
  report: ReportRecord,
): Promise<void> {
  const gone = await rowsOf(
    tx,
    z.object({ recordId: z.string(), sequence: z.int() }),
    `select s.record_id as "recordId", s.sequence from record_seals s
     where s.chain = $1 and s.owner_id = $2 and s.sequence <= $3
       and not exists (select from (${select}) r where r.owner_id = $2 and r.key::text = s.record_id)
     order by s.sequence limit 100`,
    [name, ownerId, from.sequence],
  );
  for (const { recordId, sequence } of gone) report(recordId, `was sealed as number ${sequence} and is gone`);
  const strays = await rowsOf(
    tx,
    z.object({ recordId: z.string() }),
    `select r.key::text as "recordId" from (${select}) r where r.owner_id = $2
       and not exists (select from record_seals s where s.chain = $1 and s.record_id = r.key::text)
       and not exists (select from unsealed_records u where u.chain = $1 and u.record_id = r.key::text)
     limit 100`,
    [name, ownerId],
  );
  for (const { recordId } of strays) report(recordId, 'has no seal and waits for none');
}

async function unsealedOf(tx: Tx, { name }: RecordChain, ownerId: string): Promise<number> {
  const { count } = await oneRowOf(
    tx,
    countRow,
    'select count(*) as count from unsealed_records where chain = $1 and owner_id = $2',
    [name, ownerId],
  );
  return count;
}
