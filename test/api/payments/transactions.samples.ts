/** Sample calls and records of transactions, for the suites that cover all operations. @module */
import { randomUUID } from 'node:crypto';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { theRecords } from '../../support/factories/records.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { theCard } from '../cards/cards.samples.ts';
import { theAgent } from '../parties/agents.samples.ts';
import { freshIntent, theIntent } from '../spending/intents.samples.ts';
import { declinedCharge } from './network.samples.ts';

const theTransaction = async (one: Sampler): Promise<string> => (await one.the(theRecords)).transactionId;

export const samples = samplesOf(transactionsArea, {
  ids: { id: theTransaction, agentId: theAgent, cardId: theCard, intentId: theIntent },
  calls: (one) => ({
    listTransactions: () => ({}),
    getTransaction: async () => ({ path: { id: await one.the(theTransaction) } }),
    getTransactionDecision: async () => ({ path: { id: await one.the(theTransaction) } }),
    allowTransactionOnce: async () => ({ path: { id: await declinedCharge(one) } }),
    updateTransaction: async () => ({
      path: { id: await one.the(theTransaction) },
      body: { memo: `noted ${randomUUID()}` },
    }),
    simulateTransaction: async () => {
      const intentId = await freshIntent(one, 5);
      const { cardId } = await one.client(intentsArea).getIntent({ params: { id: intentId } });
      return { body: { cardId, intentId } };
    },
  }),
  needsTemporal: ['simulateTransaction'],
});
