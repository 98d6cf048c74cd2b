/** A process that posts, seals and signs until it is killed, and prints the id of each committed posting. @module */
import { databaseOf } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/orm.ts';
import { signingKeyFrom } from '../../src/domains/treasury/ledger/checkpoint.rules.ts';
import { writeCheckpoint } from '../../src/domains/treasury/ledger/checkpoint.service.ts';
import { checkpointFolder } from '../../src/domains/treasury/ledger/checkpoint.store.ts';
import { internalTransfer } from '../../src/domains/treasury/ledger/ledger.rules.ts';
import { postJournals } from '../../src/domains/treasury/ledger/ledger.service.ts';
import { sealJournals } from '../../src/domains/treasury/ledger/seal.service.ts';
import { WalletRow } from '../../src/domains/treasury/wallets/wallet.entity.ts';
import { newId } from '../../src/kernel/ids.ts';

const [url = '', ownerId = '', fromWalletId = '', toWalletId = '', folder = '', pem = ''] = process.argv.slice(2);
const orm = await openDatabase({ url, entities: [WalletRow], poolSize: 6, applicationName: 'dying' });
const database = databaseOf(orm);
const checkpoints = { key: signingKeyFrom(pem), store: checkpointFolder(folder) };

const post = async (): Promise<never> => {
  for (;;) {
    const id = newId('journal');
    const cause = { causeId: id, requestId: id, actor: { kind: 'system' }, at: new Date() } as const;
    await database.write((tx) =>
      postJournals(tx, cause, [
        {
          id,
          ownerId,
          kind: 'internal_transfer',
          referenceType: 'transfer',
          referenceId: id,
          cause: id,
          memo: 'on the way',
          postings: internalTransfer({ fromWalletId, toWalletId, amountCents: 1 }),
        },
      ]),
    );
    process.stdout.write(`${id}\n`);
  }
};

const seal = async (): Promise<never> => {
  for (;;) {
    await database.write((tx) => sealJournals(tx, 20));
    await database.write((tx) => writeCheckpoint(tx, checkpoints));
  }
};

await Promise.all([post(), post(), post(), seal()]);
