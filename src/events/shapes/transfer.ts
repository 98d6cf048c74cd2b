/** The `data` of the events of a transfer and of a split. Reference, memo and metadata are in no event. @module */
import * as z from 'zod';
import { code, count, euros, id, named } from '../fields.ts';

export const transferData = named('TransferEventData', {
  id: id('transfer'),
  ownerId: id('owner'),
  agentId: id('agent').nullable(),
  status: code,
  type: code,
  fromWalletId: id('wallet').nullable().meta({ description: 'null when the money came from the budget of the agent' }),
  toWalletId: id('wallet').nullable().meta({ description: 'null when the money goes to a bank account' }),
  beneficiaryId: id('beneficiary').nullable().meta({ description: 'whose bank account the money goes to' }),
  amountEuros: euros,
  splitId: id('transferSplit').nullable(),
  intentId: id('intent').nullable().meta({ description: 'what the agent declared, and the transfer pays for' }),
  failureReason: z
    .string()
    .regex(/^[a-z_]+(:[A-Za-z0-9_]{1,40})?$/)
    .nullable()
    .meta({ description: 'why no money arrived, for example `rejected:AC04` or `returned:MD07`' }),
});

export const transferSplitData = named('TransferSplitEventData', {
  id: id('transferSplit'),
  ownerId: id('owner'),
  agentId: id('agent').nullable(),
  status: code,
  fromWalletId: id('wallet').nullable().meta({ description: 'null when the money came from the budget of the agent' }),
  totalAmountEuros: euros,
  completedAmountEuros: euros.meta({ description: 'what has arrived and has not come back' }),
  lines: count.meta({ description: 'number of its transfers' }),
  completedLines: count.meta({ description: 'number of its transfers whose money has arrived and has not come back' }),
});
