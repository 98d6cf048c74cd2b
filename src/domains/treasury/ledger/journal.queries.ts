/** Reads journals as stored, for sealing and for verifying seals. @module */
import * as z from 'zod';
import { rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';

/** Columns of `journals j`, in the shape of `journalOnRecord`. */
export const journalFacts = `j.id, j.owner_id as "ownerId", j.agent_id as "agentId", j.kind,
  j.reference_type as "referenceType", j.reference_id as "referenceId", j.cause,
  j.memo_commitment as "memoCommitment", j.request_id as "requestId", j.run_id as "runId",
  to_char(j.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "createdAt",
  coalesce((
    select json_agg(json_build_object('line', e.line, 'account', e.account, 'amountCents', e.amount_cents,
      'balanceBeforeCents', e.balance_before_cents, 'balanceAfterCents', e.balance_after_cents,
      'accountVersion', e.account_version) order by e.line)
    from ledger_entries e where e.journal_id = j.id), '[]') as entries`;

const entryOnRecord = z.object({
  line: z.int(),
  account: z.string(),
  amountCents: z.int(),
  balanceBeforeCents: z.int().nullable(),
  balanceAfterCents: z.int().nullable(),
  accountVersion: z.int().nullable(),
});

/** A row with the columns of `journalFacts`. */
export const journalOnRecord = z.object({
  id: z.string(),
  ownerId: z.string(),
  agentId: z.string().nullable(),
  kind: z.string(),
  referenceType: z.string(),
  referenceId: z.string(),
  cause: z.string(),
  memoCommitment: z.string().nullable(),
  requestId: z.string(),
  runId: z.string().nullable(),
  createdAt: z.string(),
  entries: z.array(entryOnRecord),
});

const sealOnRecord = z.object({
  sequence: z.int(),
  format: z.int(),
  hash: z.string(),
  leaf: z.string().nullable(),
  sealedAt: z.string().nullable(),
});

const journalToCheck = journalOnRecord.extend({
  /** Null while it waits for its seal. */
  seal: sealOnRecord.nullable(),
  /** The text and its salt, unless there is none or it was erased. */
  memo: z.string().nullable(),
  salt: z.string().nullable(),
});
export type JournalToCheck = Readonly<z.output<typeof journalToCheck>>;

/** Of `journal_seals s`, in the shape of `sealOnRecord`. */
const sealFacts = `json_build_object('sequence', s.sequence, 'format', s.format, 'hash', s.hash, 'leaf', s.leaf,
  'sealedAt', to_char(s.sealed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;

/** An owner's sealed journals after `sequence`, in order. */
export const sealedAfter = (tx: Tx, ownerId: string, sequence: number, limit: number): Promise<JournalToCheck[]> =>
  rowsOf(
    tx,
    journalToCheck,
    `select ${sealFacts} as seal, t.memo, t.salt, ${journalFacts}
     from journal_seals s join journals j on j.id = s.journal_id left join journal_texts t on t.journal_id = j.id
     where s.owner_id = $1 and s.sequence > $2 order by s.sequence limit $3`,
    [ownerId, sequence, limit],
  );

const waitingJournal = journalToCheck.extend({ position: z.int() });
export type WaitingJournal = Readonly<z.output<typeof waitingJournal>>;

/** An owner's journals that wait for their seal, in the order in which they will get it. */
export const unsealedAfter = (tx: Tx, ownerId: string, position: number, limit: number): Promise<WaitingJournal[]> =>
  rowsOf(
    tx,
    waitingJournal,
    `select u.position, null as seal, t.memo, t.salt, ${journalFacts}
     from unsealed_journals u join journals j on j.id = u.journal_id left join journal_texts t on t.journal_id = j.id
     where u.owner_id = $1 and u.position > $2 order by u.position limit $3`,
    [ownerId, position, limit],
  );
