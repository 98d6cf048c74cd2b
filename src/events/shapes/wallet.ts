/** The `data` of the events of a wallet and of its top-ups. @module */
import * as z from 'zod';
import { code, euros, id, named } from '../fields.ts';

export const walletData = named('WalletEventData', {
  id: id('wallet'),
  walletId: id('wallet'),
  ownerId: id('owner'),
  status: code,
  isDefault: z.boolean(),
});

export const newWalletData = named('WalletCreatedEventData', {
  ...walletData.shape,
  parentWalletId: id('wallet').nullable(),
});

const credited = {
  ownerId: id('owner'),
  walletId: id('wallet'),
  amountEuros: euros,
  balanceEuros: euros.meta({ description: 'available right after, in euros' }),
  source: code,
};

export const walletFundingData = named('WalletFundingEventData', {
  id: id('wallet'),
  ...credited,
  fundingId: id('funding'),
});

/** Credited is a wallet by a funding or a transfer, or an agent's budget out of its wallet: `id` and `account` say which. */
export const creditData = named('WalletCreditEventData', {
  id: z.union([id('wallet'), id('agent')]),
  ...credited,
  agentId: id('agent').nullable(),
  account: z
    .string()
    .regex(/^(wallet|agent):[a-z0-9_]+:available$/)
    .meta({ description: 'the ledger account that was credited' }),
  fundingId: id('funding').nullable(),
  transferId: id('transfer').optional().meta({ description: 'the transfer that brought the money, tr_…' }),
});

export const fundingData = named('FundingEventData', {
  id: id('funding'),
  ownerId: id('owner'),
  walletId: id('wallet'),
  status: code,
  amountEuros: euros,
});
