/** Answers the transactions operations from the rows. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { agentOf, mayReach, ownerOf } from '../../../http/caller.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { pageOf } from '../../../kernel/page.ts';
import type { transactionsArea } from './transaction.contract.ts';
import { eventsOf, findTransaction, historyStartOf, listTransactions } from './transaction.queries.ts';
import { transactionWire } from './transaction.wire.ts';

export type TransactionDeps = { readonly database: Database };

export const transactionHandlers = ({ database }: TransactionDeps): Handlers<typeof transactionsArea> => ({
  listTransactions: async ({ query: { cursor, limit, ...filter } }, call) => {
    const own = agentOf(call);
    if (own !== undefined && filter.agentId !== undefined && filter.agentId !== own) {
      throw new DomainError('agent_isolation', `transactions of ${filter.agentId} are closed to another agent`);
    }
    const page = pageOfQuery({ cursor, limit });
    const tx = database.read();
    const ownerId = ownerOf(call);
    const historyStart = await historyStartOf(tx, ownerId, await call.now());
    const wanted = { ...filter, ownerId, agentId: own ?? filter.agentId, historyStart };
    const found = await listTransactions(tx, wanted, page);
    const shown = pageOf(
      found,
      page.limit,
      (row) => ({ createdAt: row.createdAt.toISOString(), id: row.id }),
      (row) => row,
    );
    const events = await eventsOf(
      tx,
      shown.data.map(({ id }) => id),
    );
    return { ...shown, data: shown.data.map((row) => transactionWire(row, events.get(row.id) ?? [])) };
  },

  getTransaction: async ({ params: { id } }, call) => {
    const tx = database.read();
    const row = mayReach(call, 'transaction', id, await findTransaction(tx, id));
    return transactionWire(row, (await eventsOf(tx, [id])).get(id) ?? []);
  },
});
