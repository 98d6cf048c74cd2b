/** The customer and default wallet that an owner begins with. @module */
import { ensureDefaultWallet } from '../../domains/treasury/index.ts';
import { createEnsureCustomer } from '../../usecases/parties/ensure-customer.ts';
import type { Infrastructure } from '../infrastructure.ts';

export const ibanIssueOf = ({ config }: Infrastructure) => ({
  mode: config.BURSAR_MODE,
  ibanBankCode: config.BURSAR_IBAN_BANK_CODE,
});

export function ensureCustomerOf(infrastructure: Infrastructure) {
  const issue = ibanIssueOf(infrastructure);
  return createEnsureCustomer({
    mode: issue.mode,
    openDefaultWallet: (tx, cause, { ownerId, walletId }) =>
      ensureDefaultWallet(tx, cause, ownerId, () => walletId, issue),
  });
}
