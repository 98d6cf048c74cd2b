/** A process that posts, seals and signs until it is killed, and prints the id of each committed posting. @module */
import { databaseOf } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/orm.ts';
import { checkpointFolder, postJournals, signingKeyFrom, treasuryEntities } from '../../src/domains/treasury/index.ts';
import { writeCheckpoint } from '../../src/domains/treasury/ledger/checkpoint.service.ts';
import { internalTransfer } from '../../src/domains/treasury/ledger/ledger.rules.ts';
import { sealJournals } from '../../src/domains/treasury/ledger/seal.service.ts';
import { newId } from '../../src/kernel/ids.ts';

const [url = '', ownerId = '', fromWalletId = '', toWalletId = '', folder = '', pem = ''] = process.argv.slice(2);
const orm = await openDatabase({ url, entities: treasuryEntities, poolSize: 6, applicationName: 'dying' });
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
