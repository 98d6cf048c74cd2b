/**
 * Seals audit rows and decisions in the order of their commits, in a separate chain per owner and kind. One
 * sealer at a time; the transactions that write records do not wait for it.
 * @module
 */
import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { rowsOf, runSql } from '../../db/statement.ts';
import { tryLock } from '../../db/try-lock.ts';
import type { Tx } from '../../db/tx.ts';
import { leafHash, MerkleTree } from './merkle.rules.ts';
import {
  genesisOfRecords,
  leafTextOfRecord,
  type RecordFacts,
  type RecordHead,
  recordCommitment,
  recordFormat,
  sealOfRecord,
} from './record-chain.rules.ts';
import type { RecordChain } from './record-chain.ts';
import { treeOfRecords } from './record-tree.ts';

const batchSize = 2_000;
const lockKey = 8_400_113;

/** How many records were sealed; 0 also while another process seals. */
export async function sealRecords(tx: Tx, chains: readonly RecordChain[], limit: number = batchSize): Promise<number> {
  if (!(await tryLock(tx, lockKey))) return 0;
  const taken = await takeUnsealed(tx, limit);
  if (taken.length === 0) return 0;
  for (const chain of chains) {
    const ofChain = taken.filter(({ chain: name }) => name === chain.name);
    if (ofChain.length > 0) await seal(tx, chain, ofChain);
  }
  return taken.length;
}

const waitingRecord = z.object({ chain: z.string(), ownerId: z.string(), recordId: z.string() });
type Waiting = Readonly<z.output<typeof waitingRecord>>;

const takeUnsealed = (tx: Tx, limit: number): Promise<Waiting[]> =>
  rowsOf(
    tx,
    waitingRecord,
    `with taken as (
       delete from unsealed_records where position = any(array(
         select position from unsealed_records order by position limit $1))
       returning position, chain, owner_id, record_id
     )
     select chain, owner_id as "ownerId", record_id as "recordId" from taken order by position`,
    [limit],
  );

async function seal(tx: Tx, chain: RecordChain, waiting: readonly Waiting[]): Promise<void> {
  const facts = await factsOf(tx, chain, waiting);
  const ends = await endsOf(tx, chain, waiting);
  const seals = waiting.map(({ ownerId, recordId }) => {
    const before = ends.get(ownerId) ?? { sequence: 0, hash: genesisOfRecords, tree: new MerkleTree() };
    const { facts: text = goneBeforeItsSeal, address = null, texts = null } = facts.get(recordId) ?? {};
    const [addressSalt, textSalt] = [saltFor(address), saltFor(texts)];
    const sealed = {
      chain: chain.name,
      sequence: before.sequence + 1,
      format: recordFormat,
      recordId,
      facts: text,
      addressCommitment: address === null ? null : recordCommitment(address, addressSalt ?? ''),
      textCommitment: texts === null ? null : recordCommitment(texts, textSalt ?? ''),
    };
    const leaf = leafHash(leafTextOfRecord(sealed));
    const hash = sealOfRecord(before.hash, leaf);
    before.tree.append(leaf);
    ends.set(ownerId, { sequence: sealed.sequence, hash, tree: before.tree });
    return { ...sealed, ownerId, leaf, hash, addressSalt, textSalt };
  });
  await keep(tx, chain, seals, [...ends]);
}

/** A record that was deleted between its commit and its seal is still sealed, so that verify names it. */
const goneBeforeItsSeal = '';

const saltFor = (text: string | null): string | null => (text === null ? null : randomBytes(16).toString('hex'));

const recordFacts: z.ZodType<RecordFacts> = z.object({
  recordId: z.string(),
  facts: z.string(),
  address: z.string().nullable(),
  texts: z.string().nullable(),
});

export async function factsOf(
  tx: Tx,
  { select, keyType }: RecordChain,
  ids: readonly { readonly recordId: string }[],
): Promise<Map<string, RecordFacts>> {
  const found = await rowsOf(
    tx,
    recordFacts,
    `select r.key::text as "recordId", r.facts, r.address, r.texts from (${select}) r
     where r.key = any($1::${keyType}[])`,
    [ids.map(({ recordId }) => recordId)],
  );
  return new Map(found.map((row) => [row.recordId, row]));
}

export const recordHead = z.object({ sequence: z.int(), hash: z.string() });

type ChainEnd = RecordHead & { readonly tree: MerkleTree };

async function endsOf(tx: Tx, chain: RecordChain, waiting: readonly Waiting[]): Promise<Map<string, ChainEnd>> {
  const heads = await rowsOf(
    tx,
    recordHead.extend({ ownerId: z.string(), frontier: z.string().nullable() }),
    `select owner_id as "ownerId", sequence, hash, frontier from record_heads
     where chain = $1 and owner_id = any($2::text[])`,
    [chain.name, [...new Set(waiting.map(({ ownerId }) => ownerId))]],
  );
  const ends = new Map<string, ChainEnd>();
  for (const head of heads) {
    ends.set(head.ownerId, { ...head, tree: await treeOfRecords(tx, { ...head, chain: chain.name }) });
  }
  return ends;
}

type NewSeal = {
  readonly ownerId: string;
  readonly sequence: number;
  readonly recordId: string;
  readonly format: number;
  readonly addressCommitment: string | null;
  readonly textCommitment: string | null;
  readonly leaf: string;
  readonly hash: string;
  readonly addressSalt: string | null;
  readonly textSalt: string | null;
};

async function keep(
  tx: Tx,
  chain: RecordChain,
  seals: readonly NewSeal[],
  ends: readonly (readonly [ownerId: string, end: ChainEnd])[],
): Promise<void> {
  await runSql(
    tx,
    `with sealed as (
       select * from unnest($2::text[], $3::bigint[], $4::text[], $5::smallint[], $6::text[], $7::text[], $8::text[],
         $9::text[], $10::text[], $11::text[])
         as s (owner_id, sequence, record_id, format, address_commitment, text_commitment, leaf, hash, address_salt,
           text_salt)
     ), salt as (
       insert into record_salts (chain, record_id, address_salt, text_salt)
       select $1, record_id, address_salt, text_salt from sealed where num_nonnulls(address_salt, text_salt) > 0
     ), seal as (
       insert into record_seals
         (chain, owner_id, sequence, record_id, format, address_commitment, text_commitment, leaf, hash)
       select $1, owner_id, sequence, record_id, format, address_commitment, text_commitment, leaf, hash from sealed
     )
     insert into record_heads as h (chain, owner_id, sequence, hash, frontier)
     select $1, * from unnest($12::text[], $13::bigint[], $14::text[], $15::text[])
     on conflict (chain, owner_id) do update set
       sequence = excluded.sequence, hash = excluded.hash, frontier = excluded.frontier`,
    [
      chain.name,
      seals.map(({ ownerId }) => ownerId),
      seals.map(({ sequence }) => sequence),
      seals.map(({ recordId }) => recordId),
      seals.map(({ format }) => format),
      seals.map(({ addressCommitment }) => addressCommitment),
      seals.map(({ textCommitment }) => textCommitment),
      seals.map(({ leaf }) => leaf),
      seals.map(({ hash }) => hash),
      seals.map(({ addressSalt }) => addressSalt),
      seals.map(({ textSalt }) => textSalt),
      ends.map(([ownerId]) => ownerId),
      ends.map(([, { sequence }]) => sequence),
      ends.map(([, { hash }]) => hash),
      ends.map(([, { tree }]) => tree.frontier),
    ],
  );
}
