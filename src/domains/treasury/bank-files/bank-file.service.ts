/** Keeps which files of a bank were read, with their answers. A repeated file gets the same one. @module */
import * as z from 'zod';
import { columnRow } from '../../../db/column-row.ts';
import { firstRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';
import { type BankFileAnswer, bankFileAnswer } from './bank-file.contract.ts';

export type FileKey = {
  readonly adapter: string;
  readonly kind: BankFileAnswer['kind'];
  readonly messageId: string;
  /** SHA-256 of its bytes. */
  readonly digest: string;
};

const kept = columnRow({ digest: z.string(), result: bankFileAnswer });

/** Before the file is read: the same bytes were read already. */
export async function answerToBytes(
  tx: Tx,
  { adapter, digest }: Pick<FileKey, 'adapter' | 'digest'>,
): Promise<BankFileAnswer | undefined> {
  const text = 'select digest, result from bank_files where adapter = $1 and digest = $2 limit 1';
  return (await firstRowOf(tx, kept, text, [adapter, digest]))?.result;
}

/** `other file`: the message id belongs to one with other content. */
export async function answerToMessage(
  tx: Tx,
  { adapter, kind, messageId, digest }: FileKey,
): Promise<BankFileAnswer | 'other file' | undefined> {
  const text = 'select digest, result from bank_files where adapter = $1 and kind = $2 and message_id = $3';
  const found = await firstRowOf(tx, kept, text, [adapter, kind, messageId]);
  if (found === null || found === undefined) return undefined;
  return found.digest === digest ? found.result : 'other file';
}

/** Two requests with one file end here at once: the first answer is kept, and is that of both. */
export async function keepAnswer(tx: Tx, key: FileKey, answer: BankFileAnswer, cause: Cause): Promise<BankFileAnswer> {
  const { adapter, digest } = key;
  await runSql(
    tx,
    `insert into bank_files (id, adapter, kind, message_id, digest, result, request_id, received_at)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8) on conflict on constraint bank_files_message do nothing`,
    [answer.id, adapter, answer.kind, answer.messageId, digest, JSON.stringify(answer), cause.requestId, cause.at],
  );
  const standing = await answerToMessage(tx, key);
  if (standing !== 'other file') return standing ?? answer;
  // When it comes again it is refused; its lines are booked.
  throw new DomainError('unavailable', 'another file with its message id was received at the same time');
}
