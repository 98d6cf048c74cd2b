/** Sample calls and records of wallets, for the suites that cover all operations. @module */
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { theRecords } from '../../support/factories/records.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';

export const theWallet = async (one: Sampler): Promise<string> => (await one.the(theRecords)).walletId;

export const samples = samplesOf(walletsArea, {
  ids: { id: theWallet, parentWalletId: theWallet },
  calls: (one) => {
    const path = async () => ({ id: await one.the(theWallet) });
    return {
      listWallets: () => ({}),
      createWallet: () => ({ body: { name: 'Travel' } }),
      getWallet: async () => ({ path: await path() }),
      getWalletBalance: async () => ({ path: await path() }),
      updateWallet: async () => ({ path: await path(), body: { purpose: 'everything' } }),
      closeWallet: async () => {
        const { id } = await one.client(walletsArea).createWallet({ body: { name: 'short-lived' } });
        return { path: { id } };
      },
      fundWalletById: async () => ({ path: await path(), body: { amountEuros: 1 } }),
    };
  },
  // A wallet belongs to the owner. Every agent that draws on it may read it.
  sharedBySiblings: ['getWallet', 'getWalletBalance'],
});
