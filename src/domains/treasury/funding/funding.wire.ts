/** A top-up as its caller sees it. Shapes only. @module */
import { eurosFromCents } from '../../../kernel/money.ts';
import type { FundedWalletRecord } from '../wallets/wallet.contract.ts';
import type { FundingRecord } from './funding.contract.ts';
import type { FundingView } from './funding.queries.ts';

/** As the answer for a wallet shows it. */
export const fundedWalletWire = (funding: FundingView): FundedWalletRecord => ({
  walletId: funding.walletId,
  amountEuros: eurosFromCents(funding.amountCents),
  balanceEuros: eurosFromCents(funding.balanceCents),
  status: funding.status,
  simulated: funding.isSimulated,
  fundingId: funding.id,
  ...bankDetailsOf(funding),
});

export const fundingWire = (funding: FundingView): FundingRecord => ({
  id: funding.id,
  walletId: funding.walletId,
  amountEuros: eurosFromCents(funding.amountCents),
  balanceEuros: eurosFromCents(funding.balanceCents),
  status: funding.status,
  simulated: funding.isSimulated,
  ...bankDetailsOf(funding),
  createdAt: funding.createdAt.toISOString(),
});

/** A pending one has a reference: the table checks it. */
const bankDetailsOf = ({ status, iban, bic, reference }: FundingView) =>
  status === 'pending' ? { bankDetails: { iban, bic, reference: reference ?? '' } } : {};
