/** Sample calls and records of bank files, for the suites that cover all operations. @module */
import { bankFilesArea } from '../../../src/domains/treasury/bank-files/bank-file.contract.ts';
import { germanIban } from '../../../src/domains/treasury/wallets/iban.rules.ts';
import { bankSignature, notificationOf, sendBankFile } from '../../support/bank-files.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { theWallet } from './wallets.samples.ts';

/** An account of the installation that no wallet has. */
const nobodysIban = germanIban('99999999', 9_999_999_999);

async function suspended(one: Sampler): Promise<string> {
  const xml = notificationOf([{ text: 'what is this' }], nobodysIban);
  const { status, body } = await sendBankFile(one.world, xml);
  if (status !== 200) throw new Error(`the file was not taken: ${status} ${JSON.stringify(body)}`);
  const [entry] = await one.world.sql<{ id: string }>(
    `select id from bank_entries where status = 'suspense' order by created_at desc, id desc limit 1`,
  );
  if (entry === undefined) throw new Error('nothing is in suspense');
  return entry.id;
}

const theEntry = (one: Sampler): Promise<string> => one.the(suspended);

const twoEntries = async (one: Sampler): Promise<void> => {
  await theEntry(one);
  await suspended(one);
};

export const samples = samplesOf(bankFilesArea, {
  ids: { id: theEntry },
  calls: (one) => ({
    receiveBankFile: async () => {
      const wallets = await one.world.sql<{ iban: string }>('select iban from wallets where id = $1', [
        await theWallet(one),
      ]);
      const text = notificationOf([{ text: 'rent' }], wallets[0]?.iban ?? '');
      return { text, headers: { 'X-Network-Signature': bankSignature(one.world, text) } };
    },
    listBankEntries: async () => {
      await one.the(twoEntries);
      return { as: 'dashboard' };
    },
    assignBankEntry: async () => ({
      as: 'dashboard',
      path: { id: await suspended(one) },
      headers: { 'X-Owner-Id': one.owner.ownerId },
      body: { walletId: await theWallet(one), reason: 'the payer confirmed by telephone' },
    }),
  }),
  actsTwice: { assignBankEntry: 'each use of the dashboard’s secret is audited; the money is moved once' },
});
