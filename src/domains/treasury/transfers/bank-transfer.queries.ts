/** Reads of transfers to bank accounts: one, and many under lock. Decides nothing. @module */
import { sql } from 'kysely';
import * as z from 'zod';
import { columnRow } from '../../../db/column-row.ts';
import { type Given, query } from '../../../db/db.ts';
import { idValue } from '../../../db/row-values.ts';
import { rowsOf, runSql } from '../../../db/statement.ts';
import { columnsOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { BankTransferStage } from '../sepa/bank-transfer.rules.ts';
import type { Scheme } from '../sepa/scheme.rules.ts';
import { TransferSchema } from './transfer.entity.ts';
import type { TransferView } from './transfer.queries.ts';

type Always = {
  readonly stage: BankTransferStage;
  readonly scheme: Scheme;
  readonly beneficiaryId: Id<'beneficiary'>;
  readonly payerWalletId: Id<'wallet'>;
  readonly payerIban: string;
  readonly payeeName: string;
  readonly payeeIbanMasked: string;
};

/** A check of the table guarantees what a bank transfer always has. */
export type BankTransfer = Omit<TransferView, keyof Always> & Always;

export const isBankTransfer = (row: TransferView): row is BankTransfer => row.type === 'sepa';

/** Refuses what only a transfer to a bank account can do. */
export function asBankTransfer(row: TransferView): BankTransfer {
  if (isBankTransfer(row)) return row;
  throw new DomainError('invalid_state', 'a transfer between wallets is completed at once: there is nothing to decide');
}

const many = query((from, given: Given<{ ids: readonly string[] }>) =>
  from
    .selectFrom('transfers')
    .select(columnsOf(TransferSchema))
    .where(sql<boolean>`id = any(${given('ids')}::text[])`)
    .where('type', '=', sql.lit('sepa'))
    .orderBy('id'),
);

/** Without those that do not exist or go to no bank account. */
export async function bankTransfers(tx: Tx, ids: readonly string[]): Promise<BankTransfer[]> {
  return (await many.all(tx, { ids })).filter(isBankTransfer);
}

/**
 * With the spending of their agents locked before them. In the transaction no row of an agent may be locked yet; wallets
 * and ledger accounts come later.
 */
export async function lockBankTransfers(tx: Tx, ids: readonly string[]): Promise<BankTransfer[]> {
  await runSql(tx, 'select lock_bank_transfers($1::text[])', [[...ids]]);
  return bankTransfers(tx, ids);
}

export async function lockBankTransfer(tx: Tx, id: string, ownerId?: string): Promise<BankTransfer> {
  const [row] = await lockBankTransfers(tx, [id]);
  if (row === undefined || (ownerId !== undefined && row.ownerId !== ownerId)) throw notFound('transfer', id);
  return row;
}

export const findBankTransfer = async (tx: Tx, id: string): Promise<BankTransfer | undefined> =>
  (await bankTransfers(tx, [id]))[0];

export async function bankTransferOf(tx: Tx, id: string): Promise<BankTransfer> {
  const row = await findBankTransfer(tx, id);
  if (row === undefined) throw notFound('transfer', id);
  return row;
}

const atBankRow = columnRow({ id: idValue('transfer'), stage: z.enum(['sending', 'submitted', 'accepted']) });

/** Of all owners: what the bank may have and has not ended, without what may be on its way right now. By real time. */
export const transfersAtBank = (tx: Tx) =>
  rowsOf(
    tx,
    atBankRow,
    `select id, stage from transfers
     where status in ('pending_approval', 'pending', 'submitted') and stage in ('sending', 'submitted', 'accepted')
       and send_until < now()`,
  );
