/** Reads of transfers and splits: one, pages by every filter, the lines of a split. Decides nothing. @module */
import { sql } from 'kysely';
import { type Db, type Given, query } from '../../../db/db.ts';
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { columnsOf, type TableOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { TransferSchema, TransferSplitSchema } from './transfer.entity.ts';
import type { TransferStatus, TransferType } from './transfer.rules.ts';

export type TransferView = Readonly<TableOf<typeof TransferSchema>>;
export type SplitRow = Readonly<TableOf<typeof TransferSplitSchema>>;
/** With its lines, in their order. */
export type SplitView = SplitRow & { readonly transfers: readonly TransferView[] };

const columns = columnsOf(TransferSchema).map((column) => `t.${column}` as const);
const transfersOf = (from: Db) => from.selectFrom('transfers as t').select(columns);

type Named = { readonly ownerId: string; readonly id: string };

const transfer = query((from, given: Given<Named>) =>
  transfersOf(from).where('t.id', '=', given('id')).where('t.ownerId', '=', given('ownerId')),
);
const split = query((from, given: Given<{ id: string }>) =>
  from.selectFrom('transferSplits').select(columnsOf(TransferSplitSchema)).where('id', '=', given('id')),
);
const lines = query((from, given: Given<{ splitIds: readonly string[] }>) =>
  transfersOf(from)
    .where(sql<boolean>`t.split_id = any(${given('splitIds')}::text[])`)
    .orderBy('t.splitId')
    .orderBy('t.splitLine'),
);

export const findTransfer = (tx: Tx, ownerId: string, id: string): Promise<TransferView | null> =>
  transfer.first(tx, { ownerId, id });

export async function findSplit(tx: Tx, ownerId: string, id: string): Promise<SplitView | null> {
  const found = await findAnySplit(tx, id);
  return found?.ownerId === ownerId ? found : null;
}

/** Of any owner: for the worker, and for an approver's link. */
export async function findAnySplit(tx: Tx, id: string): Promise<SplitView | null> {
  const found = await split.first(tx, { id });
  // The lines after the row, so that they are never older than its version.
  return found === null ? null : { ...found, transfers: await linesOfSplits(tx, [id]) };
}

export const linesOfSplits = (tx: Tx, splitIds: readonly string[]): Promise<TransferView[]> =>
  lines.all(tx, { splitIds });

export async function transferOf(tx: Tx, ownerId: string, id: string): Promise<TransferView> {
  const found = await findTransfer(tx, ownerId, id);
  if (found === null) throw notFound('transfer', id);
  return found;
}

export async function splitOf(tx: Tx, ownerId: string, id: string): Promise<SplitView> {
  const found = await findSplit(tx, ownerId, id);
  if (found === null) throw notFound('transfer split', id);
  return found;
}

export type TransferFilter = {
  readonly ownerId: string;
  readonly agentId?: string | undefined;
  readonly splitId?: string | undefined;
  readonly beneficiaryId?: Id<'beneficiary'> | undefined;
  readonly status?: TransferStatus | undefined;
  readonly type?: TransferType | undefined;
  readonly walletId?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
};

function matching(from: Db, given: Filters<TransferFilter>) {
  let wanted = transfersOf(from).where('t.ownerId', '=', given('ownerId'));
  if (given.has('agentId')) wanted = wanted.where('t.agentId', '=', given('agentId'));
  if (given.has('splitId')) wanted = wanted.where('t.splitId', '=', given('splitId'));
  if (given.has('beneficiaryId')) wanted = wanted.where('t.beneficiaryId', '=', given('beneficiaryId'));
  if (given.has('status')) wanted = wanted.where('t.status', '=', given('status'));
  if (given.has('type')) wanted = wanted.where('t.type', '=', given('type'));
  if (given.has('from')) wanted = wanted.where('t.createdAt', '>=', given('from'));
  if (given.has('to')) wanted = wanted.where('t.createdAt', '<', given('to'));
  return wanted;
}

const inTime = newestFirst('t');
const transfers = list(matching, inTime);

/** From and to the wallet, the newest of each by its index. No transfer is in both. */
const transfersOfWallet = list((from, given: Filters<TransferFilter>, cut) => {
  const outgoing = cut(matching(from, given).where('t.fromWalletId', '=', given('walletId')), inTime);
  const incoming = cut(matching(from, given).where('t.toWalletId', '=', given('walletId')), inTime);
  return from.selectFrom(sql<TransferView>`(${outgoing} union all ${incoming})`.as<'t'>(sql`t`)).select(columns);
}, inTime);

/** Newest first. */
export const listTransfers = (tx: Tx, filter: TransferFilter, pageQuery: PageQuery): Promise<Page<TransferView>> =>
  page(tx, filter.walletId === undefined ? transfers : transfersOfWallet, filter, pageQuery);

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly transfer: TransferView;
    readonly transferSplit: SplitView;
  }
}
