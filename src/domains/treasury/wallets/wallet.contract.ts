/** The wallet operations as published. Wire shapes only; the rules live in wallet.rules.ts. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import {
  atLeastOneField,
  euros,
  eurosOut,
  id,
  idOut,
  instantOut,
  pageOut,
  pageQuery,
  prose,
  text,
} from '../../../http/schemas.ts';
import { jsonBytes } from '../../../kernel/json-bytes.ts';
import { walletStatuses } from './wallet.rules.ts';

export const Wallet = z
  .strictObject({
    id: idOut('wallet'),
    ownerId: idOut('owner'),
    name: z.string(),
    purpose: z.string().nullable(),
    currency: z.literal('EUR'),
    balanceEuros: eurosOut.meta({ description: 'what can be spent; money held for open payments is not in it' }),
    iban: z.string().nullable(),
    bic: z.string().nullable(),
    parentWalletId: idOut('wallet').nullable(),
    isDefault: z.boolean(),
    status: z.enum(walletStatuses),
    metadata: z.record(z.string(), z.unknown()),
    createdAt: instantOut,
    updatedAt: instantOut,
    closedAt: instantOut.nullable(),
  })
  .meta({ id: 'Wallet', description: 'A wallet of an owner, in euros.' });

/** Of a top-up that waits for a bank transfer. */
export const BankDetails = z
  .strictObject({
    iban: z.string().nullable().meta({ description: 'null until the bank has delivered one' }),
    bic: z.string().nullable(),
    reference: z
      .string()
      .meta({ description: 'creditor reference (ISO 11649) of this top-up', examples: ['RF37G0000000000000000000X'] }),
  })
  .meta({ id: 'BankDetails', description: 'While pending: where to send the money, and the reference to write.' });

const WalletBalance = z
  .strictObject({
    walletId: idOut('wallet'),
    availableEuros: eurosOut,
    pendingEuros: eurosOut.meta({ description: 'held for card payments and transfers that are not settled' }),
    totalEuros: eurosOut,
  })
  .meta({ id: 'WalletBalance', description: 'The balance of a wallet.' });

const FundedWallet = z
  .strictObject({
    walletId: idOut('wallet'),
    amountEuros: eurosOut,
    balanceEuros: eurosOut,
    status: z.enum(['completed', 'pending']),
    simulated: z.boolean(),
    fundingId: idOut('funding'),
    bankDetails: BankDetails.optional(),
  })
  .meta({ id: 'FundedWallet', description: 'A wallet to which money was added, or is expected.' });

export const metadata = z
  .record(z.string().max(100), z.unknown())
  .refine((value) => jsonBytes(value) <= 16_384, 'must not be larger than 16 KiB');
const name = text(120);
const purpose = prose(500).nullable().optional();
const params = z.strictObject({ id: id('wallet') });

const largestFundingCents = 10_000_000;
export const fundingAmount = euros({ minCents: 1, maxCents: largestFundingCents });

const comparedInStatement = 'the statement that funds compares the owner of both wallets';

export const walletsArea = defineArea({
  tag: 'Wallets',
  base: '/wallets',
  aliases: ['/accounts'],
  description: 'Where an owner’s euros are. Several per owner, nested for cost centres; exactly one is the default.',
  operations: {
    listWallets: {
      method: 'get',
      path: '',
      reaches: { 'query.parentWalletId': 'filter' },
      summary: 'List wallets',
      description: 'An agent token sees the wallet that its agent draws on.',
      auth: ['key', 'agent'],
      scope: 'wallets.read',
      query: z.strictObject({
        status: z.enum(walletStatuses).optional().describe('only wallets in this state'),
        parentWalletId: id('wallet').optional(),
        ...pageQuery('wallet'),
      }),
      success: { status: 200, body: pageOut(Wallet) },
      refusals: [],
    },
    createWallet: {
      method: 'post',
      path: '',
      reaches: { 'body.parentWalletId': { elsewhere: 'the service locks the wallet by id and owner' } },
      summary: 'Open a wallet',
      description: 'With its own IBAN. An owner without any wallet gets the default wallet “Main” with it.',
      auth: ['key'],
      body: z.strictObject({
        name,
        purpose,
        currency: z.literal('EUR', 'must be EUR').optional(),
        parentWalletId: id('wallet').optional(),
        metadata: metadata.optional(),
        isDefault: z.boolean().optional(),
      }),
      success: { status: 201, body: Wallet },
      refusals: ['invalid_state'],
      fires: ['wallet.created', 'wallet.updated', 'customer.created'],
    },
    getWallet: {
      method: 'get',
      path: '/{id}',
      summary: 'Get a wallet',
      auth: ['key', 'agent'],
      scope: 'wallets.read',
      params,
      success: { status: 200, body: Wallet },
      refusals: ['agent_isolation', 'not_found'],
    },
    updateWallet: {
      method: 'patch',
      path: '/{id}',
      summary: 'Change a wallet',
      description: 'Making it the default takes that from the one before in the same step.',
      auth: ['key'],
      params,
      body: z
        .strictObject({
          name: name.optional(),
          purpose,
          isDefault: z.literal(true, 'must be true; to end it, make another wallet the default').optional(),
          metadata: metadata.optional(),
        })
        .refine(...atLeastOneField)
        .meta({ minProperties: 1 }),
      success: { status: 200, body: Wallet },
      refusals: ['invalid_state', 'not_found'],
      fires: ['wallet.updated'],
    },
    closeWallet: {
      method: 'delete',
      path: '/{id}',
      summary: 'Close a wallet for good',
      description:
        'Refused while it is the default, holds money, has open wallets below it, or agents that draw on it.',
      auth: ['key'],
      params,
      success: { status: 200, body: Wallet },
      refusals: ['invalid_state', 'not_found'],
      fires: ['wallet.closed'],
    },
    getWalletBalance: {
      method: 'get',
      path: '/{id}/balance',
      summary: 'Get the balance of a wallet',
      auth: ['key', 'agent'],
      scope: 'wallets.read',
      params,
      success: { status: 200, body: WalletBalance },
      refusals: ['agent_isolation', 'not_found'],
    },
    fundWalletById: {
      method: 'post',
      path: '/{id}/fund',
      reaches: {
        'params.id': { elsewhere: comparedInStatement },
        'body.fromWalletId': { elsewhere: comparedInStatement },
      },
      idempotency: 'atomic',
      summary: 'Put money into a wallet',
      description: 'From another wallet of the owner (`fromWalletId`), or from outside as `POST /fund` does.',
      auth: ['key'],
      params,
      body: z
        .strictObject({
          amountEuros: fundingAmount,
          fromWalletId: id('wallet').optional(),
          simulate: z.boolean().optional(),
        })
        .meta({ examples: [{ amountEuros: 12.5 }] }),
      success: { status: 200, body: FundedWallet },
      refusals: ['invalid_state', 'insufficient_funds', 'not_found'],
      fires: ['wallet.funded', 'wallet.credited', 'funding.requested'],
    },
  },
});

export type WalletRecord = z.infer<typeof Wallet>;
export type FundedWalletRecord = z.infer<typeof FundedWallet>;
