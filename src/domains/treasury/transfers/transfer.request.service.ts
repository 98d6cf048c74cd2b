/** The transfers that a call asks for, with their ids. Moves nothing. @module */
import type { Call, Own } from '../../../http/caller.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { TransferBody, TransferSplitBody } from './transfer.contract.ts';
import { divide } from './transfer.rules.ts';
import type { TransferOrder } from './transfer.service.ts';

/** Without `fromWalletId`: out of the owner's default wallet, or what the agent draws on. */
export type TransferRequest = TransferOrder & { readonly fromWalletId?: Id<'wallet'> | undefined };

type Caller = Pick<Call, 'newId'>;

export function transferRequest({ fromWalletId, ...line }: TransferBody, own: Own, call: Caller) {
  const made = { id: call.newId('transfer'), journalId: call.newId('journal'), ...line };
  return { ...orderer(own), fromWalletId, totalCents: line.amountCents, splitId: null, lines: [made] } as const;
}

export function splitRequest({ fromWalletId, totalAmountCents, splits }: TransferSplitBody, own: Own, call: Caller) {
  const division = divide(splits, totalAmountCents);
  if (!division.ok) throw new DomainError('invalid_request', division.why);
  const splitId = call.newId('transferSplit');
  const lines = division.amountsCents.map((amountCents, index) => {
    const { toWalletId, reference } = splits[index] as TransferSplitBody['splits'][number];
    return { id: call.newId('transfer'), journalId: call.newId('journal'), toWalletId, amountCents, reference };
  });
  return { ...orderer(own), fromWalletId, totalCents: division.totalCents, splitId, lines };
}

const orderer = ({ ownerId, agentId }: Own) => ({ ownerId, agentId: agentId ?? null });
