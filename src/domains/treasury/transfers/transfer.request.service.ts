/** The transfers that a call asks for, with their ids. Moves nothing. @module */

import type { Call, Own } from '../../../http/caller.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { BeneficiaryBody } from '../beneficiaries/beneficiary.contract.ts';
import type { Scheme } from '../sepa/scheme.rules.ts';
import type { TransferBody, TransferSplitBody } from './transfer.contract.ts';
import { divide } from './transfer.rules.ts';
import type { TransferOrder } from './transfer.service.ts';

/** Without `fromWalletId`: out of the owner's default wallet, or what the agent draws on. */
export type TransferRequest = TransferOrder & { readonly fromWalletId?: Id<'wallet'> | undefined };

type Caller = Pick<Call, 'newId'>;

/** To a bank account. */
export type BankOrder = {
  readonly id: Id<'transfer'>;
  readonly journalId: Id<'journal'>;
  readonly ownerId: Id<'owner'>;
  readonly agentId: Id<'agent'> | null;
  readonly fromWalletId: Id<'wallet'> | undefined;
  readonly payee:
    | { readonly id: Id<'beneficiary'> }
    | { readonly to: Payee; readonly draft: { readonly id: Id<'beneficiary'>; readonly body: BeneficiaryBody } };
  readonly scheme: Scheme | undefined;
  readonly amountCents: Cents;
  readonly reference: string | undefined;
  readonly memo: string | undefined;
  readonly metadata: Record<string, unknown> | undefined;
};

type Payee = NonNullable<TransferBody['to']>;

/** Undefined for a transfer between wallets. */
export function bankOrder(body: TransferBody, own: Own, call: Caller): BankOrder | undefined {
  const { to, beneficiaryId, fromWalletId, scheme, amountCents, reference, memo, metadata } = body;
  if (to === undefined && beneficiaryId === undefined) return undefined;
  const made = { id: call.newId('transfer'), journalId: call.newId('journal'), ...orderer(own) };
  const payee = to === undefined ? { id: beneficiaryId as Id<'beneficiary'> } : { to, draft: draftOf(to, call) };
  return { ...made, fromWalletId, payee, scheme, amountCents, reference, memo, metadata };
}

const draftOf = (to: Payee, call: Caller) => ({ id: call.newId('beneficiary'), body: { ...to, agentsMayPay: false } });

export function transferRequest(body: TransferBody & { toWalletId: Id<'wallet'> }, own: Own, call: Caller) {
  const { fromWalletId, toWalletId, amountCents, reference, memo, metadata } = body;
  const line = { toWalletId, amountCents, reference, memo, metadata };
  const made = { id: call.newId('transfer'), journalId: call.newId('journal'), ...line };
  return { ...orderer(own), fromWalletId, totalCents: amountCents, splitId: null, lines: [made] } as const;
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
