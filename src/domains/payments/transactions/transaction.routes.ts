/** Answers the transactions operations from the rows. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Call } from '../../../http/caller.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { type Handlers, Reply } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Cents } from '../../../kernel/money.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { ApprovalLinks } from '../../identity/approvals/index.ts';
import { type IntentRow, intentRecords } from '../../spending/intents/index.ts';
import { readDecision } from '../network/decision.queries.ts';
import { decisionWire } from '../network/decision.wire.ts';
import type { WantedOutcome } from '../simulations/simulation.rules.ts';
import type { TransactionWire, transactionsArea } from './transaction.contract.ts';
import type { TransactionRow } from './transaction.entity.ts';
import { listTransactions, type PublishedTransaction, readTransaction } from './transaction.queries.ts';
import { noteOn } from './transaction.service.ts';
import { transactionWire } from './transaction.wire.ts';

/** `amountCents` and `merchant` are the intent's where they are left out. */
export type SimulationOrder = {
  readonly cardId: string;
  readonly intentId: string | undefined;
  readonly amountCents: Cents | undefined;
  readonly merchant: string | undefined;
  readonly mcc: string;
  readonly country: string;
  readonly outcome: WantedOutcome;
};

export type TransactionDeps = {
  readonly database: Database;
  readonly links: Pick<ApprovalLinks, 'urlsOf'>;
  readonly simulate: (order: SimulationOrder, call: Call) => Promise<TransactionRow>;
  /** `isNew` is false where the charge was allowed before. */
  readonly allow: (
    transactionId: ReachedId<'transaction'>,
    call: Call,
  ) => Promise<{ readonly row: Readonly<IntentRow>; readonly isNew: boolean }>;
};

export const transactionHandlers = ({
  database,
  links,
  simulate,
  allow,
}: TransactionDeps): Handlers<typeof transactionsArea> => ({
  listTransactions: async ({ query: { cursor, limit, ...filter }, own }, call) => {
    const wanted = { ...filter, ownerId: own.ownerId, agentId: own.agentId ?? filter.agentId, now: await call.now() };
    return mapPage(await listTransactions(database.read(), wanted, pageOfQuery({ cursor, limit })), toWire);
  },

  getTransaction: async ({ records }) => toWire(records.transaction),

  getTransactionDecision: async ({ params: { id }, own }) => {
    const found = await readDecision(database.read(), id, own);
    if (found === null) throw notFound('decision on transaction', id);
    return decisionWire(found.decisions, found.policy);
  },

  allowTransactionOnce: async ({ params: { id } }, call) => {
    const { row, isNew } = await allow(id, call);
    const record = await intentRecords({ database, links }, [row], call);
    return new Reply(isNew ? 201 : 200, record(row));
  },

  updateTransaction: ({ params: { id }, body: { memo }, own: { ownerId } }, call) =>
    inTransaction({ database }, call, async (tx, cause) => {
      await noteOn(tx, { id, ownerId }, memo, cause);
      return toWire(await read(tx, id));
    }),

  simulateTransaction: async ({ body: { amountCents, intentId, merchant, ...order } }, call) => {
    const { id } = await simulate({ ...order, amountCents, intentId, merchant }, call);
    return toWire(await read(database.read(), id));
  },
});

async function read(tx: Tx, id: string): Promise<PublishedTransaction> {
  const found = await readTransaction(tx, id);
  if (found === null) throw notFound('transaction', id);
  return found;
}

const toWire = (row: PublishedTransaction): TransactionWire => transactionWire(row, row.events);
