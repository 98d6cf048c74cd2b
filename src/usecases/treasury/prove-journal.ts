/** Makes the proof that a journal is under a signed checkpoint, in one snapshot of the database. @module */
import type { Database } from '../../db/database.ts';
import type { JournalProof } from '../../domains/treasury/ledger/proof.rules.ts';
import { proofOfJournal } from '../../domains/treasury/ledger/prove.service.ts';

export const proveJournal =
  ({ database }: { readonly database: Database }) =>
  (journalId: string): Promise<JournalProof> =>
    database.write((tx) => proofOfJournal(tx, journalId));
