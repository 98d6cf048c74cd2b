/** A process that funds wallets, as its argument says, and prints the key of each funding that it was answered. @module */
import { databaseOf } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/orm.ts';
import { WalletSchema } from '../../src/domains/treasury/wallets/wallet.entity.ts';
import { type Move, moveIn } from './moves.ts';

const [url = '', moves = '[]'] = process.argv.slice(2);
const orm = await openDatabase({ url, entities: [WalletSchema], poolSize: 4, applicationName: 'dying-funder' });
const database = databaseOf(orm);

await Promise.all(
  (JSON.parse(moves) as Move[]).map(async (move) => {
    await moveIn(database, move);
    process.stdout.write(`${move.key}\n`);
  }),
);
await orm.close();
