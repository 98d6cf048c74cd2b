/**
 * Recomputes an owner's book from its rows, in one snapshot: every seal, every balance, every invariant. In full, or
 * from the last checkpoint that was found whole. Changes nothing but the note of how far it got.
 * @module
 */
import type { KeyObject } from 'node:crypto';
import type { Database } from '../../../db/database.ts';
import { runSql } from '../../../db/statement.ts';
import { oneRow, rows, type Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { isSignedHead, isSignedRoot, keyIdOf } from './checkpoint.rules.ts';
import { sealedAfter, unsealedAfter } from './journal.queries.ts';
import type { Head } from './seal.rules.ts';
import { checkpointsOf, checkStanding, type StoredCheckpoint } from './verify.queries.ts';
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
};

const batchSize = 1_000;
/** Held while a book is checked in full. */
export const fullCheckLock = 8_400_112;

export async function verifyOwner(database: Database, ownerId: string, options: VerifyOptions): Promise<Verification> {
  const { verification, checkpoint } = await database.write(async (tx) => {
    await runSql(tx, 'set transaction isolation level repeatable read, read only');
    if (options.exclusive === true) await oneAtATime(tx);
    const from = options.full ? undefined : await lastVerified(tx, ownerId, options.publicKeys);
    return check(tx, ownerId, options, from);
  });
  if (verification.balanced && checkpoint > verification.checkedFrom) await note(database, ownerId, checkpoint);
  return verification;
}

async function check(tx: Tx, ownerId: string, { full, publicKeys }: VerifyOptions, from: Head | undefined) {
  const book = new BookCheck(ownerId, from);
  await checkSealed(tx, ownerId, book);
  const unsealed = await checkUnsealed(tx, ownerId, book);
  const checkpoints = await checkpointsOf(tx, ownerId, from?.sequence ?? 0);
  for (const checkpoint of checkpoints) checkCheckpoint(book, checkpoint, publicKeys);
  await checkStanding(tx, ownerId, book, full);
  const verification: Verification = {
    balanced: book.differences.length === 0,
    journals: book.sealedThrough.sequence + unsealed,
    sealedThrough: book.sealedThrough.sequence,
    unsealed,
    checkedFrom: from?.sequence ?? 0,
    differences: book.differences,
  };
  return { verification, checkpoint: checkpoints.at(-1)?.sequence ?? 0 };
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

function checkCheckpoint(book: BookCheck, checkpoint: StoredCheckpoint, publicKeys: PublicKeys | undefined): void {
  const { sequence, hash, at, sealHash } = checkpoint;
  const subject = `checkpoint ${at}`;
  if (sealHash === null) book.differs('checkpoint', subject, `knows journal ${sequence}, which is gone`);
  else if (sealHash !== hash)
    book.differs('checkpoint', subject, `knows another seal of journal ${sequence}: history was rewritten`);
  const fault = signatureFault(checkpoint, publicKeys);
  if (fault !== undefined) book.differs('checkpoint', subject, fault);
}

function signatureFault(checkpoint: StoredCheckpoint, publicKeys: PublicKeys | undefined): string | undefined {
  if (publicKeys === undefined || publicKeys.size === 0) return undefined;
  const key = publicKeys.get(checkpoint.keyId);
  if (key === undefined || keyIdOf(key) !== checkpoint.keyId) return `is signed by an unknown key ${checkpoint.keyId}`;
  if (!isSignedHead(key, checkpoint.at, checkpoint)) return 'has a signature that is not ours';
  return isSignedRoot(key, checkpoint.root, checkpoint.rootSignature)
    ? undefined
    : 'has a root signature that is not ours';
}

/** Where the last check ended, if that is still what a checkpoint signed and what the seal says. */
async function lastVerified(tx: Tx, ownerId: string, publicKeys: PublicKeys | undefined): Promise<Head | undefined> {
  const [mark] = await rows<{ sequence: number }>(tx, 'select sequence from ledger_verified where owner_id = $1', [
    ownerId,
  ]);
  if (mark === undefined) return undefined;
  const [checkpoint] = await checkpointsOf(tx, ownerId, mark.sequence - 1, mark.sequence);
  if (checkpoint === undefined || checkpoint.sealHash !== checkpoint.hash) return undefined;
  const isOurs = signatureFault(checkpoint, publicKeys) === undefined;
  return isOurs ? { sequence: checkpoint.sequence, hash: checkpoint.hash } : undefined;
}

async function oneAtATime(tx: Tx): Promise<void> {
  const { mine } = await oneRow<{ mine: boolean }>(tx, 'select pg_try_advisory_xact_lock($1) as mine', [fullCheckLock]);
  if (mine) return;
  throw new DomainError(
    'rate_limited',
    'another check in full is running; repeat in a minute, or leave out full=true',
    {
      retryAfterSeconds: 60,
    },
  );
}

/** Every owner who has ever had an account or a journal. */
export async function* ownersWithBooks(database: Database): AsyncIterable<string> {
  const owners = await rows<{ owner_id: string }>(
    database.read(),
    'select owner_id from ledger_accounts union select owner_id from journals order by owner_id',
  );
  for (const { owner_id } of owners) yield owner_id;
}

const note = (database: Database, ownerId: string, sequence: number): Promise<unknown> =>
  runSql(
    database.read(),
    `insert into ledger_verified as v values ($1, $2)
     on conflict (owner_id) do update set sequence = greatest(v.sequence, excluded.sequence)`,
    [ownerId, sequence],
  );
