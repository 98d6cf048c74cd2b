/** Answers the transactions operations from the rows. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Tx } from '../../../db/tx.ts';
import { agentOf, type Call, mayReach, ownerOf } from '../../../http/caller.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { pageOf } from '../../../kernel/page.ts';
import type { WantedOutcome } from '../simulations/simulation.rules.ts';
import type { transactionsArea } from './transaction.contract.ts';
import type { TransactionRow } from './transaction.entity.ts';
import { eventsOf, listTransactions, readTransaction } from './transaction.queries.ts';
import { noteOn } from './transaction.service.ts';
import { transactionWire } from './transaction.wire.ts';

/** `amountCents` and `merchant` are the intent's where they are left out. */
export type SimulationOrder = {
  readonly cardId: string;
  readonly intentId: string | undefined;
  readonly amountCents: number | undefined;
  readonly merchant: string | undefined;
  readonly mcc: string;
  readonly country: string;
  readonly outcome: WantedOutcome;
};

export type TransactionDeps = {
  readonly database: Database;
  readonly simulate: (order: SimulationOrder, call: Call) => Promise<TransactionRow>;
};

export const transactionHandlers = ({ database, simulate }: TransactionDeps): Handlers<typeof transactionsArea> => ({
  listTransactions: async ({ query: { cursor, limit, ...filter } }, call) => {
    const own = agentOf(call);
    if (own !== undefined && filter.agentId !== undefined && filter.agentId !== own) {
      throw new DomainError('agent_isolation', `transactions of ${filter.agentId} are closed to another agent`);
    }
    const page = pageOfQuery({ cursor, limit });
    const tx = database.read();
    const ownerId = ownerOf(call);
    const wanted = { ...filter, ownerId, agentId: own ?? filter.agentId, now: await call.now() };
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
    return shownAs(tx, mayReach(call, 'transaction', id, await readTransaction(tx, id)));
  },

  updateTransaction: async ({ params: { id }, body: { memo } }, call) => {
    mayReach(call, 'transaction', id, await readTransaction(database.read(), id));
    return database.write(async (tx) => shownAs(tx, await noteOn(tx, id, memo, call.cause)));
  },

  simulateTransaction: async ({ body: { amountEuros: amountCents, intentId, merchant, ...order } }, call) =>
    shownAs(database.read(), await simulate({ ...order, amountCents, intentId, merchant }, call)),
});

const shownAs = async (tx: Tx, row: TransactionRow) =>
  transactionWire(row, (await eventsOf(tx, [row.id])).get(row.id) ?? []);
