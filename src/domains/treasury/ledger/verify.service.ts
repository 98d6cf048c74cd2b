/**
 * Recomputes an owner's ledger from its rows, in one snapshot: every seal, every balance, every invariant. In full, or
 * from the last checkpoint that was verified. Writes only how far it got.
 * @module
 */
import type { KeyObject } from 'node:crypto';
import * as z from 'zod';
import { type Given, query } from '../../../db/db.ts';
import { rowsOf, runSql } from '../../../db/statement.ts';
import { tryLock } from '../../../db/try-lock.ts';
import type { Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { ReconciliationQuery } from '../../../platform/reconciliation.ts';
import type { RecordChain } from '../../../platform/record-chains/record-chain.ts';
import { isSignedHead, isSignedRoot, keyIdOf } from './checkpoint.rules.ts';
import { sealedAfter, unsealedAfter } from './journal.queries.ts';
import {
  checkRecords,
  noteVerifiedRecords,
  type RecordVerification,
  reconcile,
  type StoredRecordCheckpoint,
} from './reconcile.service.ts';
import type { ChainEnd } from './seal.rules.ts';
import { treeOfJournals } from './tree.queries.ts';
import { checkpointsOf, checkStanding, leadsTo, type StoredCheckpoint } from './verify.queries.ts';
import { BookCheck, type Difference } from './verify.rules.ts';

export type Verification = {
  readonly balanced: boolean;
  /** All of the owner's, sealed or not. */
  readonly journals: number;
  /** Sequence of the last sealed journal. */
  readonly sealedThrough: number;
  readonly unsealed: number;
  /** Sequence of the checkpoint it began at; 0 for a check in full. */
  readonly checkedFrom: number;
  /** The chains of audit rows and decisions. */
  readonly records: readonly RecordVerification[];
  readonly differences: readonly Difference[];
};

export type PublicKeys = ReadonlyMap<string, KeyObject>;

export type VerifyOptions = {
  readonly full: boolean;
  /** Refused while another such check runs. */
  readonly exclusive?: boolean;
  /**
   * By key id: those that may sign checkpoints. A signature that is wrong, or by another key, is a difference. Without
   * any key signatures are not checked.
   */
  readonly publicKeys?: PublicKeys | undefined;
  /** The kinds of records whose chains are checked too. */
  readonly chains?: readonly RecordChain[];
  /** What the areas registered. */
  readonly reconciliation?: readonly ReconciliationQuery[];
};

const batchSize = 1_000;
/** Held while a book is checked in full. */
export const fullCheckLock = 8_400_112;

/** What a check found, and how far each chain is whole by it. */
export type CheckedBook = Awaited<ReturnType<typeof check>>;

/** Begins its transaction, which reads one snapshot and writes nothing. */
export async function checkBook(tx: Tx, ownerId: string, options: VerifyOptions): Promise<CheckedBook> {
  await runSql(tx, 'set transaction isolation level repeatable read, read only');
  if (options.exclusive === true) await oneAtATime(tx);
  const from = options.full ? undefined : await lastVerified(tx, ownerId, options.publicKeys);
  return check(tx, ownerId, options, from);
}

/** The next check that is not in full begins at the checkpoints of this one. */
export async function noteVerified(
  tx: Tx,
  ownerId: string,
  { verification, checkpoint, records }: CheckedBook,
): Promise<void> {
  if (checkpoint > verification.checkedFrom) await noteBook(tx, ownerId, checkpoint);
  for (const { chain, checkpoint: sequence } of records) {
    if (sequence > 0) await noteVerifiedRecords(tx, chain, ownerId, sequence);
  }
}

async function check(tx: Tx, ownerId: string, options: VerifyOptions, from: ChainEnd | undefined) {
  const { full, publicKeys, chains = [], reconciliation = [] } = options;
  const start = from?.sequence ?? 0;
  const checkpoints = await checkpointsOf(tx, ownerId, start);
  const book = new BookCheck(ownerId, from, new Set(checkpoints.map(({ sequence }) => sequence)));
  await checkSealed(tx, ownerId, book);
  const unsealed = await checkUnsealed(tx, ownerId, book);
  for (const checkpoint of checkpoints)
    checkCheckpoint(book, checkpoint, publicKeys, book.roots.get(checkpoint.sequence));
  await checkStanding(tx, ownerId, book, full);
  const records: Awaited<ReturnType<typeof checkRecords>>[] = [];
  for (const chain of chains) {
    records.push(
      await checkRecords(tx, { ownerId, full }, chain, book, (checkpoint, rootThen) =>
        checkCheckpoint(book, checkpoint, publicKeys, rootThen),
      ),
    );
  }
  await reconcile(tx, ownerId, reconciliation, book);
  const verification: Verification = {
    balanced: book.differences.length === 0,
    journals: book.sealedThrough.sequence + unsealed,
    sealedThrough: book.sealedThrough.sequence,
    unsealed,
    checkedFrom: start,
    records: records.map(({ chain, sealedThrough, unsealed: waiting }) => ({
      chain,
      sealedThrough,
      unsealed: waiting,
    })),
    differences: book.differences,
  };
  return { verification, checkpoint: checkpoints.at(-1)?.sequence ?? 0, records };
}

async function checkSealed(tx: Tx, ownerId: string, book: BookCheck): Promise<void> {
  for (;;) {
    const journals = await sealedAfter(tx, ownerId, book.sealedThrough.sequence, batchSize);
    for (const journal of journals) book.check(journal);
    if (journals.length < batchSize) return;
  }
}

/** How many there are: none to speak of while the sealer runs, any number where it does not. */
async function checkUnsealed(tx: Tx, ownerId: string, book: BookCheck): Promise<number> {
  let count = 0;
  let position = 0;
  for (;;) {
    const journals = await unsealedAfter(tx, ownerId, position, batchSize);
    for (const journal of journals) book.check(journal);
    count += journals.length;
    position = journals.at(-1)?.position ?? position;
    if (journals.length < batchSize) return count;
  }
}

type AnyCheckpoint = StoredCheckpoint | StoredRecordCheckpoint;

function checkCheckpoint(
  book: BookCheck,
  checkpoint: AnyCheckpoint,
  publicKeys: PublicKeys | undefined,
  rootThen: string | undefined,
): void {
  const { sequence, hash, at, sealHash, chain, treeRoot } = checkpoint;
  const subject = `checkpoint ${at}`;
  const name = `${chain === undefined ? 'journal' : `${chain} record`} ${sequence}`;
  if (sealHash === null) book.differs('checkpoint', subject, `knows ${name}, which is gone`);
  else if (sealHash !== hash)
    book.differs('checkpoint', subject, `knows another seal of ${name}: history was rewritten`);
  else if (treeRoot !== undefined && treeRoot !== rootThen)
    book.differs('checkpoint', subject, `knows another tree up to ${name}: history was rewritten`);
  const fault = signatureFault(checkpoint, publicKeys);
  if (fault !== undefined) book.differs('checkpoint', subject, fault);
}

function signatureFault(checkpoint: AnyCheckpoint, publicKeys: PublicKeys | undefined): string | undefined {
  if (publicKeys === undefined || publicKeys.size === 0) return undefined;
  const key = publicKeys.get(checkpoint.keyId);
  if (key === undefined || keyIdOf(key) !== checkpoint.keyId) return `is signed by an unknown key ${checkpoint.keyId}`;
  if (!isSignedHead(key, checkpoint.at, checkpoint)) return 'has a signature that is not ours';
  return isSignedRoot(key, checkpoint.root, checkpoint.rootSignature)
    ? undefined
    : 'has a root signature that is not ours';
}

const verifiedThrough = query((from, given: Given<{ ownerId: string }>) =>
  from.selectFrom('ledger_verified').select('sequence').where('ownerId', '=', given('ownerId')),
);

/** Where the last check ended, if that is still what a checkpoint signed and what the seal says. */
async function lastVerified(
  tx: Tx,
  ownerId: string,
  publicKeys: PublicKeys | undefined,
): Promise<ChainEnd | undefined> {
  const mark = await verifiedThrough.first(tx, { ownerId });
  if (mark === null) return undefined;
  const [checkpoint] = await checkpointsOf(tx, ownerId, mark.sequence - 1, mark.sequence);
  if (checkpoint === undefined || checkpoint.sealHash !== checkpoint.hash) return undefined;
  const { sequence, hash, treeRoot = null, frontier } = checkpoint;
  const isOurs = signatureFault(checkpoint, publicKeys) === undefined && leadsTo({ sequence, frontier, treeRoot });
  return isOurs ? { sequence, hash, tree: await treeOfJournals(tx, { ownerId, sequence, frontier }) } : undefined;
}

async function oneAtATime(tx: Tx): Promise<void> {
  if (await tryLock(tx, fullCheckLock)) return;
  throw new DomainError(
    'rate_limited',
    'another check in full is running; repeat in a minute, or leave out full=true',
    {
      retryAfterSeconds: 60,
    },
  );
}

/** Every owner that has, or once had, an account, a journal, an audit row or a decision. */
export async function ownersWithBooks(tx: Tx): Promise<string[]> {
  const owners = await rowsOf(
    tx,
    z.object({ ownerId: z.string() }),
    `select owner_id as "ownerId" from ledger_accounts union select owner_id from journals union select owner_id from record_heads
     union select owner_id from unsealed_records order by "ownerId"`,
  );
  return owners.map(({ ownerId }) => ownerId);
}

const noteBook = (tx: Tx, ownerId: string, sequence: number): Promise<unknown> =>
  runSql(
    tx,
    `insert into ledger_verified as v values ($1, $2)
     on conflict (owner_id) do update set sequence = greatest(v.sequence, excluded.sequence)`,
    [ownerId, sequence],
  );
