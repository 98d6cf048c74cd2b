/** Answers the fund operations: ask the service, shape the reply. No decision is made here. @module */
import { replyOf, type Written } from '../../../http/atomic.ts';
import type { Call } from '../../../http/caller.ts';
import type { Handlers } from '../../../http/route.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Parties } from '../../parties/index.ts';
import type { fundArea } from './funding.contract.ts';
import type { FundingView } from './funding.queries.ts';
import type { FundingOrder } from './funding.service.ts';
import { fundingWire } from './funding.wire.ts';

/** Without `walletId`: into the default wallet. */
export type TopUp = Omit<FundingOrder, 'walletId' | 'fromWalletId'> & { readonly walletId?: Id<'wallet'> | undefined };

export type FundDeps = {
  /** From outside, with the owner's customer where there is none yet. */
  readonly topUp: (call: Call, order: TopUp, parties: Parties) => Promise<Written<FundingView>>;
};

export const fundHandlers = ({ topUp }: FundDeps): Handlers<typeof fundArea> => ({
  fundWallet: async ({ body, own: { ownerId } }, call) => {
    const ids = { id: call.newId('funding'), journalId: call.newId('journal') };
    const parties = { ownerId, customerId: call.newId('customer'), walletId: call.newId('wallet') };
    return replyOf(await topUp(call, { ...ids, ownerId, ...body }, parties), fundingWire);
  },
  getFunding: async ({ records }) => fundingWire(records.funding),
});
