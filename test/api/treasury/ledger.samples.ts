/** Sample calls and records of the ledger, for the suites that cover all operations. @module */
import { ledgerArea } from '../../../src/domains/treasury/ledger/ledger.contract.ts';
import { theRecords } from '../../support/factories/records.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { theWallet } from './wallets.samples.ts';

const theEntry = async (one: Sampler): Promise<string> => (await one.the(theRecords)).entryId;

export const samples = samplesOf(ledgerArea, {
  ids: { id: theEntry, walletId: theWallet },
  calls: (one) => ({
    listLedgerEntries: () => ({}),
    getLedgerEntry: async () => ({ path: { id: await one.the(theEntry) } }),
    listLedgerAccounts: () => ({}),
    getLedgerStatement: async () => ({ query: `account=wallet:${await one.the(theWallet)}:available` }),
    getLedgerExport: () => ({ query: 'format=csv' }),
    verifyLedger: () => ({ query: 'full=true' }),
    listLedgerCheckpoints: () => ({}),
  }),
  shortLists: ['listLedgerCheckpoints', 'getLedgerStatement'],
});
