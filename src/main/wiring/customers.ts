/** The customer and default wallet that an owner begins with. @module */
import { ensureDefaultWallet } from '../../domains/treasury/index.ts';
import { createEnsureCustomer } from '../../usecases/ensure-customer.ts';
import type { Infrastructure } from '../infrastructure.ts';

export const ensureCustomerOf = ({ config }: Infrastructure) =>
  createEnsureCustomer({
    mode: config.BURSAR_MODE,
    openDefaultWallet: (tx, cause, { ownerId, walletId }) => ensureDefaultWallet(tx, cause, ownerId, () => walletId),
  });
