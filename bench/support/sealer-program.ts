/** The sealer alone, as the worker process runs it, without checkpoints. @module */
import { databaseOf } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/orm.ts';
import { startSealer } from '../../src/domains/treasury/ledger/sealer.ts';
import { WalletSchema } from '../../src/domains/treasury/wallets/wallet.entity.ts';
import { recordChains } from '../../src/main/record-chains.ts';
import { createLogger } from '../../src/platform/log.ts';

const url = process.env.DATABASE_URL ?? '';
const orm = await openDatabase({ url, entities: [WalletSchema], poolSize: 2, applicationName: 'sealer' });
startSealer({
  database: databaseOf(orm),
  log: createLogger({ name: 'sealer', level: 'warn' }),
  chains: recordChains,
});
process.send?.({ ready: true });
process.on('SIGTERM', () => process.exit(0));
