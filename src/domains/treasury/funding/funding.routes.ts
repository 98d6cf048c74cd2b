/** Answers the fund operations: ask the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import { eurosFromCents } from '../../../kernel/money.ts';
import type { Mode } from '../../../platform/mode.ts';
import type { EnsureCustomer } from '../../parties/index.ts';
import type { FundingRecord, fundArea } from './funding.contract.ts';
import type { FundingView } from './funding.queries.ts';
import { fundFromOutside } from './funding.service.ts';

export type FundDeps = {
  readonly database: Database;
  readonly mode: Mode;
  readonly ensureCustomer: EnsureCustomer;
};

export const fundHandlers = ({ database, mode, ensureCustomer }: FundDeps): Handlers<typeof fundArea> => ({
  fundWallet: async ({ body, own: { ownerId } }, call) => {
    const ids = { id: call.newId('funding'), journalId: call.newId('journal') };
    const parties = { ownerId, customerId: call.newId('customer'), walletId: call.newId('wallet') };
    const funding = await inTransaction({ database }, call, async (tx, cause) => {
      const main = await ensureCustomer(tx, cause, parties);
      const walletId = body.walletId ?? main.walletId;
      const order = { ...ids, ownerId, walletId, amountCents: body.amountCents, simulate: body.simulate };
      return fundFromOutside(tx, cause, mode, order);
    });
    return recordOf(funding);
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
