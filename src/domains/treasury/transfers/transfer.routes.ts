/** Answers the transfer operations: ask the use case, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Tx } from '../../../db/tx.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { ApprovalLinks } from '../../identity/approvals/index.ts';
import { asBankTransfer, type BankTransfer } from './bank-transfer.queries.ts';
import type { transfersArea } from './transfer.contract.ts';
import { listTransfers, type SplitView, splitOf } from './transfer.queries.ts';
import {
  transferRecord,
  transferRecords,
  transferSplitRecord,
  transferSplitRecordOf,
} from './transfer.record.service.ts';
import { type SplitRequest, splitRequest, type TransferCall, transferCall } from './transfer.request.service.ts';
import { transferSplitWire } from './transfer.wire.ts';

type Revocation = { readonly kind: 'cancel' } | { readonly kind: 'deny'; readonly reason: string | undefined };
type Named = { readonly id: ReachedId<'transfer'>; readonly ownerId: string };
type NamedSplit = { readonly id: ReachedId<'transferSplit'>; readonly ownerId: string };

export type TransferDeps = {
  readonly database: Database;
  readonly links: Pick<ApprovalLinks, 'urlsOf'>;
  readonly order: (order: TransferCall, cause: Cause) => Promise<void>;
  readonly divide: (request: SplitRequest, cause: Cause) => Promise<void>;
  /** Through the workflow: 503 while Temporal is unavailable. */
  readonly approve: (row: BankTransfer, envelope: undefined, cause: Cause) => Promise<void>;
  /** In one transaction, without Temporal. */
  readonly revoke: (tx: Tx, named: Named, decision: Revocation, cause: Cause) => Promise<unknown>;
  readonly approveSplit: (row: SplitView, envelope: undefined, cause: Cause) => Promise<void>;
  readonly revokeSplit: (tx: Tx, named: NamedSplit, decision: Revocation, cause: Cause) => Promise<unknown>;
};

export const transferHandlers = (deps: TransferDeps): Handlers<typeof transfersArea> => ({
  createTransfer: async ({ body, own }, call) => {
    const order = transferCall(body, own, call);
    await deps.order(order, call.cause);
    return transferRecord(deps, own.ownerId, order.id, call);
  },
  createTransferSplit: async ({ body, own }, call) => {
    const request = splitRequest(body, own, call);
    await deps.divide(request, call.cause);
    return transferSplitWire(await splitOf(deps.database.read(), own.ownerId, request.splitId));
  },
  listTransfers: async ({ query, own }, call) => {
    const { cursor: _cursor, limit: _limit, ...wanted } = query;
    const filter = { ...wanted, ownerId: own.ownerId, agentId: own.agentId ?? query.agentId };
    const found = await listTransfers(deps.database.read(), filter, pageOfQuery(query));
    return mapPage(found, await transferRecords(deps, found.data, call));
  },
  getTransfer: async ({ records: { transfer } }, call) => (await transferRecords(deps, [transfer], call))(transfer),
  approveTransfer: async ({ records: { transfer }, own }, call) => {
    await deps.approve(asBankTransfer(transfer), undefined, call.cause);
    return transferRecord(deps, own.ownerId, transfer.id, call);
  },
  denyTransfer: async ({ params: { id }, body: { reason }, records: { transfer }, own: { ownerId } }, call) => {
    asBankTransfer(transfer);
    await inTransaction(deps, call, (tx, cause) => deps.revoke(tx, { id, ownerId }, { kind: 'deny', reason }, cause));
    return transferRecord(deps, ownerId, id, call);
  },
  cancelTransfer: async ({ params: { id }, records: { transfer }, own: { ownerId } }, call) => {
    asBankTransfer(transfer);
    await inTransaction(deps, call, (tx, cause) => deps.revoke(tx, { id, ownerId }, { kind: 'cancel' }, cause));
    return transferRecord(deps, ownerId, id, call);
  },
  getTransferSplit: async ({ records: { transferSplit } }, call) => transferSplitRecord(deps, transferSplit, call),
  approveTransferSplit: async ({ records: { transferSplit }, own }, call) => {
    await deps.approveSplit(transferSplit, undefined, call.cause);
    return transferSplitRecordOf(deps, own.ownerId, transferSplit.id, call);
  },
  denyTransferSplit: async ({ params: { splitId: id }, body: { reason }, own: { ownerId } }, call) => {
    const decision = { kind: 'deny', reason } as const;
    await inTransaction(deps, call, (tx, cause) => deps.revokeSplit(tx, { id, ownerId }, decision, cause));
    return transferSplitRecordOf(deps, ownerId, id, call);
  },
  cancelTransferSplit: async ({ params: { splitId: id }, own: { ownerId } }, call) => {
    const decision = { kind: 'cancel' } as const;
    await inTransaction(deps, call, (tx, cause) => deps.revokeSplit(tx, { id, ownerId }, decision, cause));
    return transferSplitRecordOf(deps, ownerId, id, call);
  },
});
