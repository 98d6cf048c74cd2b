/** Answers the transfer operations: ask the use case, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Call } from '../../../http/caller.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { WorkflowGateway } from '../../../temporal/gateway.ts';
import type { ApprovalLinks } from '../../identity/approvals/index.ts';
import { bankTransferWorkflowId } from './bank-transfer.messages.ts';
import { type BankTransfer, isBankTransfer } from './bank-transfer.queries.ts';
import type { TransferRecord, transfersArea } from './transfer.contract.ts';
import { listTransfers, splitOf, type TransferView, transferOf } from './transfer.queries.ts';
import {
  type BankOrder,
  bankOrder,
  splitRequest,
  type TransferRequest,
  transferRequest,
} from './transfer.request.service.ts';
import { transferSplitWire, transferWire } from './transfer.wire.ts';

type Revocation = { readonly kind: 'cancel' } | { readonly kind: 'deny'; readonly reason: string | undefined };
type Named = { readonly id: ReachedId<'transfer'>; readonly ownerId: string };

export type TransferDeps = {
  readonly database: Database;
  readonly gateway: Pick<WorkflowGateway, 'startSoon'>;
  readonly links: Pick<ApprovalLinks, 'urlsOf'>;
  readonly transfer: (request: TransferRequest, cause: Cause) => Promise<void>;
  readonly payBank: (order: BankOrder, cause: Cause) => Promise<void>;
  /** Through the workflow: 503 while Temporal is unavailable. */
  readonly approve: (row: BankTransfer, envelope: undefined, cause: Cause) => Promise<void>;
  readonly decide: (tx: Tx, named: Named, decision: Revocation, cause: Cause) => Promise<unknown>;
};

export const transferHandlers = (deps: TransferDeps): Handlers<typeof transfersArea> => {
  const { database } = deps;

  /** Denies or cancels in one transaction, without Temporal. */
  const revoke = async (row: TransferView, named: Named, decision: Revocation, call: Call): Promise<TransferRecord> => {
    bankTransfer(row);
    await inTransaction(deps, call, (tx, cause) => deps.decide(tx, named, decision, cause));
    return read(named.ownerId, row.id, call);
  };

  const read = async (ownerId: string, id: string, call: Call): Promise<TransferRecord> =>
    (await wires([await transferOf(database.read(), ownerId, id)], call))(0);

  /** An agent never gets the link under which its transfer is decided. */
  const wires = async (rows: readonly TransferView[], { caller }: Pick<Call, 'caller'>) => {
    const waiting = caller.kind === 'key' ? rows.filter(({ stage }) => stage === 'pending_approval') : [];
    const urls = await deps.links.urlsOf(
      database.read(),
      waiting.map(({ id }) => id),
    );
    return (index: number): TransferRecord => {
      const row = rows[index] as TransferView;
      return transferWire(row, urls.get(row.id) ?? null);
    };
  };

  return {
    createTransfer: async ({ body, own }, call) => {
      const order = bankOrder(body, own, call);
      if (order !== undefined) {
        await deps.payBank(order, call.cause);
        deps.gateway.startSoon(bankTransferWorkflowId(order.id));
        return transferWire(await transferOf(database.read(), own.ownerId, order.id));
      }
      const { toWalletId } = body;
      if (toWalletId === undefined) throw new DomainError('invalid_request', 'body.toWalletId: is missing');
      const request = transferRequest({ ...body, toWalletId }, own, call);
      await deps.transfer(request, call.cause);
      return transferWire(await transferOf(database.read(), own.ownerId, request.lines[0].id));
    },
    createTransferSplit: async ({ body, own }, call) => {
      const request = splitRequest(body, own, call);
      await deps.transfer(request, call.cause);
      return transferSplitWire(await splitOf(database.read(), own.ownerId, request.splitId));
    },
    listTransfers: async ({ query, own }, call) => {
      const { cursor: _cursor, limit: _limit, ...wanted } = query;
      const filter = { ...wanted, ownerId: own.ownerId, agentId: own.agentId ?? query.agentId };
      const page = await listTransfers(database.read(), filter, pageOfQuery(query));
      const wire = await wires(page.data, call);
      const indexes = new Map(page.data.map((row, index) => [row.id, index]));
      return mapPage(page, ({ id }) => wire(indexes.get(id) ?? 0));
    },
    getTransfer: async ({ records }, call) => (await wires([records.transfer], call))(0),
    approveTransfer: async ({ records, own }, call) => {
      await deps.approve(bankTransfer(records.transfer), undefined, call.cause);
      return read(own.ownerId, records.transfer.id, call);
    },
    denyTransfer: ({ params: { id }, body: { reason }, records, own: { ownerId } }, call) =>
      revoke(records.transfer, { id, ownerId }, { kind: 'deny', reason }, call),
    cancelTransfer: ({ params: { id }, records, own: { ownerId } }, call) =>
      revoke(records.transfer, { id, ownerId }, { kind: 'cancel' }, call),
    getTransferSplit: async ({ records }) => transferSplitWire(records.transferSplit),
  };
};

function bankTransfer(row: TransferView): BankTransfer {
  if (isBankTransfer(row)) return row;
  throw new DomainError('invalid_state', 'a transfer between wallets is completed at once: there is nothing to decide');
}
