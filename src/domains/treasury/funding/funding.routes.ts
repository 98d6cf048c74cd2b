/** Answers the fund operations: ask the service, shape the reply. No decision is made here. @module */
import type { Handlers } from '../../../http/route.ts';
import type { Id } from '../../../kernel/ids.ts';
import { eurosFromCents } from '../../../kernel/money.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Parties } from '../../parties/index.ts';
import type { FundingRecord, fundArea } from './funding.contract.ts';
import type { FundingView } from './funding.queries.ts';
import type { OutsideOrder } from './funding.service.ts';

/** Without `walletId`: into the default wallet. */
export type TopUp = Omit<OutsideOrder, 'walletId'> & { readonly walletId?: Id<'wallet'> | undefined };

export type FundDeps = {
  /** From outside, with the owner's customer where there is none yet. */
  readonly topUp: (order: TopUp, parties: Parties, cause: Cause) => Promise<FundingView>;
};

export const fundHandlers = ({ topUp }: FundDeps): Handlers<typeof fundArea> => ({
  fundWallet: async ({ body, own: { ownerId } }, call) => {
    const ids = { id: call.newId('funding'), journalId: call.newId('journal') };
    const parties = { ownerId, customerId: call.newId('customer'), walletId: call.newId('wallet') };
    return recordOf(await topUp({ ...ids, ownerId, ...body }, parties, call.cause));
  },
  getFunding: async ({ records }) => recordOf(records.funding),
});

const recordOf = (funding: FundingView): FundingRecord => ({
  id: funding.id,
  walletId: funding.walletId,
  amountEuros: eurosFromCents(funding.amountCents),
  balanceEuros: eurosFromCents(funding.balanceCents),
  status: funding.status,
  simulated: funding.isSimulated,
  ...(funding.status === 'pending' && {
    bankDetails: { iban: funding.iban, bic: funding.bic, reference: funding.id },
  }),
  createdAt: funding.createdAt.toISOString(),
});
