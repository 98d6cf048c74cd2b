/** The fund operations as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { eurosOut, id, idOut, instantOut } from '../../../http/schemas.ts';
import { BankDetails, fundingAmount } from '../wallets/wallet.contract.ts';

const Funding = z
  .strictObject({
    id: idOut('funding'),
    walletId: idOut('wallet'),
    amountEuros: eurosOut,
    balanceEuros: eurosOut.meta({ description: 'what the wallet could spend right after' }),
    status: z.enum(['completed', 'pending']),
    simulated: z.boolean(),
    bankDetails: BankDetails.optional(),
    createdAt: instantOut,
  })
  .meta({ id: 'Funding', description: 'Money that was added to a wallet, or is expected.' });

export const fundArea = defineArea({
  tag: 'Fund',
  base: '/fund',
  aliases: [],
  description: 'Manual top-up of a wallet: at once in a sandbox, by bank transfer in live mode.',
  operations: {
    fundWallet: {
      method: 'post',
      path: '',
      reaches: { 'body.walletId': { elsewhere: 'the statement that funds compares the owner of the wallet' } },
      idempotency: 'atomic',
      summary: 'Put money into a wallet',
      description:
        'Into the default wallet unless one is named. In a sandbox the money is there in the answer: the one place ' +
        'where a call moves money from outside, which otherwise only the network’s and the bank’s messages do.',
      auth: ['key'],
      body: z.strictObject({
        amountEuros: fundingAmount,
        walletId: id('wallet').optional(),
        simulate: z.boolean().optional(),
      }),
      success: { status: 200, body: Funding },
      refusals: ['invalid_state'],
      fires: ['wallet.funded', 'wallet.credited', 'funding.requested', 'customer.created', 'wallet.created'],
    },
    getFunding: {
      method: 'get',
      path: '/{id}',
      summary: 'Get a top-up',
      auth: ['key'],
      params: z.strictObject({ id: id('funding') }),
      success: { status: 200, body: Funding },
      refusals: ['not_found'],
    },
  },
});

export type FundingRecord = z.infer<typeof Funding>;
