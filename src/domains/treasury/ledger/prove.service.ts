/**
 * Makes the proof that a journal, an audit row or a decision is under a signed checkpoint, from one snapshot of the
 * database. Reads every leaf of the owner's tree, so its cost grows with the chain. Changes nothing.
 * @module
 */
import * as z from 'zod';
import { firstRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { inclusionPath } from '../../../platform/record-chains/merkle.rules.ts';
import {
  genesisOfRecords,
  leafTextOfRecord,
  sealedTextOfRecordFormat1,
} from '../../../platform/record-chains/record-chain.rules.ts';
import type { RecordChain } from '../../../platform/record-chains/record-chain.ts';
import { leavesOfRecords } from '../../../platform/record-chains/record-tree.ts';
import { factsOf } from '../../../platform/record-chains/seal-records.ts';
import { sealedAfter } from './journal.queries.ts';
import { leafOfText, nounOf, type Proof, type ProvenChain, proofVersion, provenText } from './proof.rules.ts';
import { genesis } from './seal.rules.ts';
import { leavesOfJournals } from './tree.queries.ts';

const placeFields = {
  ownerId: z.string(),
  sequence: z.int(),
  format: z.int(),
  previous: z.string().nullable(),
  at: z.date().nullable(),
  keyId: z.string().nullable(),
  size: z.int().nullable(),
  treeRoot: z.string().nullable(),
  head: z.string().nullable(),
  signature: z.string().nullable(),
};
const placeRow = z.object(placeFields);
const recordPlaceRow = z.object({
  ...placeFields,
  addressCommitment: z.string().nullable(),
  textCommitment: z.string().nullable(),
});
type Place = Readonly<z.output<typeof placeRow>>;

/** Under the first checkpoint that speaks for the journal. Begins its transaction. */
export async function proofOfJournal(tx: Tx, id: string): Promise<Proof> {
  await runSql(tx, 'set transaction isolation level repeatable read, read only');
  const place = await firstRowOf(tx, placeRow, placeOfJournal, [id]);
  if (place === undefined) throw notSealed('journals', id);
  const { ownerId, sequence } = place;
  const checkpoint = checkpointOf(place, id);
  const [journal] = await sealedAfter(tx, ownerId, sequence - 1, 1);
  if (journal?.seal == null || journal.id !== id) throw lost('journals', place, id);
  const text = provenText(journal.seal, place.previous ?? genesis, journal);
  const leaves = await all(leavesOfJournals(tx, { ownerId, sequence: checkpoint.size }));
  return proofOf({ chain: 'journals', id, text, place, checkpoint, leaves });
}

/** The same for an audit row or a decision. Begins its transaction. */
export async function proofOfRecord(tx: Tx, chain: RecordChain, id: string): Promise<Proof> {
  await runSql(tx, 'set transaction isolation level repeatable read, read only');
  const place = await firstRowOf(tx, recordPlaceRow, placeOfRecord, [chain.name, id]);
  if (place === undefined) throw notSealed(chain.name, id);
  const { ownerId, sequence, format, previous } = place;
  const checkpoint = checkpointOf(place, id);
  const record = (await factsOf(tx, chain, [{ recordId: id }])).get(id);
  if (record === undefined) throw lost(chain.name, place, id);
  const sealed = { ...place, chain: chain.name, recordId: id, facts: record.facts };
  const text =
    format === 1 ? sealedTextOfRecordFormat1(previous ?? genesisOfRecords, sealed) : leafTextOfRecord(sealed);
  const leaves = await all(leavesOfRecords(tx, { chain: chain.name, ownerId, sequence: checkpoint.size }));
  return proofOf({ chain: chain.name, id, text, place: { ...place, sequence }, checkpoint, leaves });
}

type Proven = Pick<Proof, 'chain' | 'id' | 'text' | 'checkpoint'> & {
  readonly place: Pick<Place, 'ownerId' | 'sequence' | 'format'>;
  readonly leaves: readonly string[];
};

function proofOf({ chain, id, text, place, checkpoint, leaves }: Proven): Proof {
  const { ownerId, sequence, format } = place;
  const leaf = leafOfText({ chain, format, sequence, text });
  const path = inclusionPath(leaves, sequence - 1);
  return { version: proofVersion, chain, ownerId, id, sequence, format, text, leaf, path, checkpoint };
}

function checkpointOf({ at, keyId, size, treeRoot, head, signature }: Place, id: string): Proof['checkpoint'] {
  if (at === null || keyId === null || size === null || treeRoot === null || head === null || signature === null)
    throw new DomainError('not_found', `no checkpoint speaks for ${id} yet; there is one every ten minutes`);
  return { at: at.toISOString(), keyId, size, treeRoot, head, signature };
}

const notSealed = (chain: ProvenChain, id: string): DomainError =>
  new DomainError('not_found', `no sealed ${nounOf[chain]} ${id}`);

const lost = (chain: ProvenChain, { ownerId, sequence }: Place, id: string): DomainError =>
  new DomainError('not_found', `the seal ${sequence} of ${ownerId} has lost its ${nounOf[chain]} ${id}`);

async function all(leaves: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const leaf of leaves) found.push(leaf);
  return found;
}

const checkpointColumns = `c.created_at as at, c.key_id as "keyId", c.sequence as size, c.tree_root as "treeRoot",
  c.hash as head, c.signature`;

const placeOfJournal = `
  select s.owner_id as "ownerId", s.sequence, s.format, p.hash as previous, ${checkpointColumns}
  from journal_seals s
  left join journal_seals p on p.owner_id = s.owner_id and p.sequence = s.sequence - 1
  left join lateral (
    select * from ledger_checkpoints l
    where l.owner_id = s.owner_id and l.sequence >= s.sequence and l.tree_root is not null
    order by l.sequence limit 1
  ) c on true
  where s.journal_id = $1`;

const placeOfRecord = `
  select s.owner_id as "ownerId", s.sequence, s.format, p.hash as previous, ${checkpointColumns},
    s.address_commitment as "addressCommitment", s.text_commitment as "textCommitment"
  from record_seals s
  left join record_seals p on p.chain = s.chain and p.owner_id = s.owner_id and p.sequence = s.sequence - 1
  left join lateral (
    select * from record_checkpoints l
    where l.chain = s.chain and l.owner_id = s.owner_id and l.sequence >= s.sequence and l.tree_root is not null
    order by l.sequence limit 1
  ) c on true
  where s.chain = $1 and s.record_id = $2`;
