/** Answers the transfer operations: ask the use case, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { transfersArea } from './transfer.contract.ts';
import { listTransfers, splitOf, transferOf } from './transfer.queries.ts';
import { splitRequest, type TransferRequest, transferRequest } from './transfer.request.service.ts';
import { transferSplitWire, transferWire } from './transfer.wire.ts';

export type TransferDeps = {
  readonly database: Database;
  readonly transfer: (request: TransferRequest, cause: Cause) => Promise<void>;
};

export const transferHandlers = ({ database, transfer }: TransferDeps): Handlers<typeof transfersArea> => ({
  createTransfer: async ({ body, own }, call) => {
    const request = transferRequest(body, own, call);
    await transfer(request, call.cause);
    return transferWire(await transferOf(database.read(), own.ownerId, request.lines[0].id));
  },
  createTransferSplit: async ({ body, own }, call) => {
    const request = splitRequest(body, own, call);
    await transfer(request, call.cause);
    return transferSplitWire(await splitOf(database.read(), own.ownerId, request.splitId));
  },
  listTransfers: async ({ query, own }) => {
    const { cursor: _cursor, limit: _limit, ...wanted } = query;
    const filter = { ...wanted, ownerId: own.ownerId, agentId: own.agentId ?? query.agentId };
    return mapPage(await listTransfers(database.read(), filter, pageOfQuery(query)), (row) => transferWire(row));
  },
  getTransfer: async ({ records }) => transferWire(records.transfer),
  getTransferSplit: async ({ records }) => transferSplitWire(records.transferSplit),
});
