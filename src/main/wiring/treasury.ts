/** Wallets, their funding, the ledger and its sealer, put together. @module */
import { join } from 'node:path';
import {
  checkpointFolder,
  fundArea,
  fundHandlers,
  ledgerArea,
  ledgerHandlers,
  publicKeysIn,
  runSealer,
  type Sealer,
  signingKeyFrom,
  walletHandlers,
  walletsArea,
} from '../../domains/treasury/index.ts';
import { type Mounted, mounted } from '../../http/route.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { ensureCustomerOf, ibanIssueOf } from './customers.ts';

export function treasuryAreas(infrastructure: Infrastructure): Mounted[] {
  const { database, config } = infrastructure;
  const ensureCustomer = ensureCustomerOf(infrastructure);
  const publicKeys = () => publicKeysIn(join(config.BURSAR_DATA_DIR, 'checkpoints'));
  return [
    mounted(walletsArea, walletHandlers({ ...ibanIssueOf(infrastructure), database, ensureCustomer })),
    mounted(fundArea, fundHandlers({ database, mode: config.BURSAR_MODE, ensureCustomer })),
    mounted(ledgerArea, ledgerHandlers({ database, publicKeys })),
  ];
}

/** Seals journals and writes signed checkpoints outside the database. */
export const sealerOf = ({ database, log, config }: Infrastructure): Sealer =>
  runSealer({
    database,
    log,
    checkpoints: {
      key: signingKeyFrom(config.BURSAR_SIGNING_KEY ?? ''),
      store: checkpointFolder(join(config.BURSAR_DATA_DIR, 'checkpoints')),
    },
  });
