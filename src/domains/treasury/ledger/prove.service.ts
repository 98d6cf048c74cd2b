/**
 * Makes the proof that a journal is under a signed checkpoint, from one snapshot of the database. Reads every leaf of
 * the owner's tree, so its cost grows with the book. Changes nothing.
 * @module
 */
import * as z from 'zod';
import { firstRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { inclusionPath } from '../../../platform/record-chains/merkle.rules.ts';
import { sealedAfter } from './journal.queries.ts';
import { type JournalProof, provenText } from './proof.rules.ts';
import { genesis } from './seal.rules.ts';
import { leavesOfJournals } from './tree.queries.ts';

const placeRow = z.object({
  ownerId: z.string(),
  sequence: z.int(),
  previous: z.string().nullable(),
  at: z.date().nullable(),
  keyId: z.string().nullable(),
  size: z.int().nullable(),
  treeRoot: z.string().nullable(),
  head: z.string().nullable(),
  signature: z.string().nullable(),
});

/** Under the first checkpoint that speaks for the journal. Begins its transaction. */
export async function proofOfJournal(tx: Tx, journalId: string): Promise<JournalProof> {
  await runSql(tx, 'set transaction isolation level repeatable read, read only');
  const place = await firstRowOf(tx, placeRow, placeOfJournal, [journalId]);
  if (place === undefined) throw new DomainError('not_found', `no sealed journal ${journalId}`);
  const { ownerId, sequence, at, keyId, size, treeRoot, head, signature } = place;
  if (at === null || keyId === null || size === null || treeRoot === null || head === null || signature === null)
    throw new DomainError('not_found', `no checkpoint speaks for ${journalId} yet; there is one every ten minutes`);
  const [journal] = await sealedAfter(tx, ownerId, sequence - 1, 1);
  if (journal?.seal == null || journal.id !== journalId)
    throw new DomainError('not_found', `the seal ${sequence} of ${ownerId} has lost its journal ${journalId}`);
  const leaves: string[] = [];
  for await (const leaf of leavesOfJournals(tx, { ownerId, sequence: size })) leaves.push(leaf);
  return {
    format: journal.seal.format,
    ownerId,
    journalId,
    sequence,
    text: provenText(journal.seal, place.previous ?? genesis, journal),
    path: inclusionPath(leaves, sequence - 1),
    checkpoint: { at: at.toISOString(), keyId, size, treeRoot, head, signature },
  };
}

const placeOfJournal = `
  select s.owner_id as "ownerId", s.sequence, p.hash as previous, c.created_at as at, c.key_id as "keyId",
    c.sequence as size, c.tree_root as "treeRoot", c.hash as head, c.signature
  from journal_seals s
  left join journal_seals p on p.owner_id = s.owner_id and p.sequence = s.sequence - 1
  left join lateral (
    select * from ledger_checkpoints l
    where l.owner_id = s.owner_id and l.sequence >= s.sequence and l.tree_root is not null
    order by l.sequence limit 1
  ) c on true
  where s.journal_id = $1`;
