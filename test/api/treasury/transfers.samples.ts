/** Sample calls and records of transfers, for the suites that cover all operations. @module */
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { transfersArea } from '../../../src/domains/treasury/transfers/transfer.contract.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { aBeneficiary, anIban } from '../../support/factories/beneficiaries.ts';
import { theRecords } from '../../support/factories/records.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { eventually } from '../../support/world.ts';
import { theBeneficiary } from './beneficiaries.samples.ts';
import { theWallet } from './wallets.samples.ts';

const theTarget = async (one: Sampler): Promise<string> => {
  await one.the(theWallet);
  return (await one.client(walletsArea).createWallet({ body: { name: 'Target' } })).id;
};

/** Not the wallet that the owner's agents draw on. */
const theSource = async (one: Sampler): Promise<string> => {
  await one.the(theWallet);
  const { id } = await one.client(walletsArea).createWallet({ body: { name: 'Source' } });
  await one.client(fundArea).fundWallet({ body: { walletId: id, amountEuros: 1_000 } });
  return id;
};

const theTransfer = async (one: Sampler): Promise<string> => {
  const body = { toWalletId: await one.the(theTarget), amountEuros: 1 };
  return (await one.client(transfersArea).createTransfer({ body })).id;
};

/** The bank takes it and says nothing more, so that nothing happens after the call. */
const aSilentBank = 'SILENT';

/** To a bank account, waiting for a person: its payee's bank knows another name. */
async function waitingTransfer(one: Sampler): Promise<string> {
  const to = { name: `Erika Muster NOMATCH`, iban: anIban() };
  const body = { fromWalletId: await one.the(theSource), to, amountEuros: 1, reference: aSilentBank };
  const transfers = one.client(transfersArea);
  const { id } = await transfers.createTransfer({ body });
  if (one.world.hasWorker) {
    await eventually(
      () => transfers.getTransfer({ params: { id } }),
      ({ status }) => status === 'pending_approval',
    );
  } else {
    // Where no worker checks the payee, the row says what it would find.
    await one.world.sql(
      `update transfers set stage = 'pending_approval', status = 'pending_approval', payee_check = 'no_match',
         expires_at = created_at + interval '72 hours' where id = $1 and stage = 'requested'`,
      [id],
    );
  }
  return id;
}

const theSplit = async (one: Sampler): Promise<string> => {
  const toWalletId = await one.the(theTarget);
  const splits = [0.5, 0.25].map((amountEuros) => ({ toWalletId, amountEuros }));
  return (await one.client(transfersArea).createTransferSplit({ body: { splits } })).id;
};

/** To a wallet and to a bank account, the second waiting for a person. */
async function waitingSplit(one: Sampler): Promise<string> {
  const to = { name: 'Erika Muster NOMATCH', iban: anIban() };
  const splits = [
    { toWalletId: await one.the(theTarget), amountEuros: 0.5 },
    { to, amountEuros: 0.5, reference: aSilentBank },
  ];
  const transfers = one.client(transfersArea);
  const { id } = await transfers.createTransferSplit({ body: { fromWalletId: await one.the(theSource), splits } });
  if (one.world.hasWorker) {
    await eventually(
      () => transfers.getTransferSplit({ params: { splitId: id } }),
      ({ status }) => status === 'pending_approval',
    );
  } else {
    await one.world.sql(
      `with line as (
         update transfers set stage = 'pending_approval', status = 'pending_approval', payee_check = 'no_match',
           expires_at = created_at + interval '72 hours' where split_id = $1 and stage = 'requested')
       update transfer_splits set status = 'pending_approval' where id = $1`,
      [id],
    );
  }
  return id;
}

const theAgent = async (one: Sampler): Promise<string> => (await one.the(theRecords)).agentId;

export const samples = samplesOf(transfersArea, {
  ids: {
    id: theTransfer,
    walletId: theTarget,
    agentId: theAgent,
    splitId: theSplit,
    beneficiaryId: theBeneficiary,
  },
  calls: (one) => ({
    createTransfer: async () => ({
      body: { fromWalletId: await one.the(theSource), toWalletId: await one.the(theTarget), amountEuros: 1 },
    }),
    createTransferSplit: async () => {
      const toWalletId = await one.the(theTarget);
      return {
        body: {
          fromWalletId: await one.the(theSource),
          totalAmountEuros: 1,
          splits: [
            { toWalletId, percent: 33.33 },
            { toWalletId, percent: 66.67 },
          ],
        },
      };
    },
    listTransfers: async () => {
      await one.the(theSplit);
      return {};
    },
    approveTransfer: async () => ({ path: { id: await waitingTransfer(one) } }),
    denyTransfer: async () => ({ path: { id: await waitingTransfer(one) } }),
    cancelTransfer: async () => ({ path: { id: await waitingTransfer(one) } }),
    getTransfer: async () => ({ path: { id: await one.the(theTransfer) } }),
    getTransferSplit: async () => ({ path: { splitId: await one.the(theSplit) } }),
    approveTransferSplit: async () => ({ path: { splitId: await waitingSplit(one) } }),
    denyTransferSplit: async () => ({ path: { splitId: await waitingSplit(one) } }),
    cancelTransferSplit: async () => ({ path: { splitId: await waitingSplit(one) } }),
  }),
  variants: {
    createTransfer: {
      'to a bank account': (one) => async () => ({
        body: {
          fromWalletId: await one.the(theSource),
          beneficiaryId: (await aBeneficiary(one.owner, { agentsMayPay: true })).id,
          amountEuros: 1,
          reference: aSilentBank,
        },
      }),
    },
    createTransferSplit: {
      'to a wallet and to a bank account': (one) => async () => {
        const { id: beneficiaryId } = await aBeneficiary(one.owner, { agentsMayPay: true });
        const splits = [
          { toWalletId: await one.the(theTarget), amountEuros: 0.5 },
          { beneficiaryId, amountEuros: 0.5, reference: aSilentBank },
        ];
        return { body: { fromWalletId: await one.the(theSource), splits } };
      },
    },
  },
  needsTemporal: ['approveTransfer', 'approveTransferSplit'],
});
