/** Transfers as their callers see them, with the approver's link where the caller may have it. Changes nothing. @module */
import type { Database } from '../../../db/database.ts';
import type { Call } from '../../../http/caller.ts';
import type { ApprovalLinks } from '../../identity/approvals/index.ts';
import type { TransferRecord, TransferSplitRecord } from './transfer.contract.ts';
import { type SplitView, splitOf, type TransferView, transferOf } from './transfer.queries.ts';
import { transferSplitWire, transferWire } from './transfer.wire.ts';

type Deps = { readonly database: Pick<Database, 'read'>; readonly links: Pick<ApprovalLinks, 'urlsOf'> };
type Caller = Pick<Call, 'caller'>;

/** An agent never gets the link under which its transfer is decided. */
export async function transferRecords(
  { database, links }: Deps,
  found: readonly TransferView[],
  { caller }: Caller,
): Promise<(row: TransferView) => TransferRecord> {
  const waiting = found.filter(({ stage }) => stage === 'pending_approval').map(({ id }) => id);
  const ids = caller.kind === 'key' ? waiting : [];
  const urls = ids.length === 0 ? new Map<string, string>() : await links.urlsOf(database.read(), ids);
  return (row) => transferWire(row, urls.get(row.id) ?? null);
}

/** As it is now. */
export async function transferRecord(deps: Deps, ownerId: string, id: string, caller: Caller): Promise<TransferRecord> {
  const row = await transferOf(deps.database.read(), ownerId, id);
  return (await transferRecords(deps, [row], caller))(row);
}

/** With the links of its lines and, while all of them can be decided, its own. */
export async function transferSplitRecord(
  deps: Deps,
  split: SplitView,
  { caller }: Caller,
): Promise<TransferSplitRecord> {
  const lineWire = await transferRecords(deps, split.transfers, { caller });
  const shows = caller.kind === 'key' && split.status === 'pending_approval';
  const urls = shows ? await deps.links.urlsOf(deps.database.read(), [split.id]) : new Map<string, string>();
  return transferSplitWire(split, urls.get(split.id) ?? null, lineWire);
}

/** As it is now. */
export const transferSplitRecordOf = async (
  deps: Deps,
  ownerId: string,
  id: string,
  caller: Caller,
): Promise<TransferSplitRecord> => transferSplitRecord(deps, await splitOf(deps.database.read(), ownerId, id), caller);
