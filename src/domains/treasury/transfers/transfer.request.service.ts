/** The transfers that a call asks for, with their ids. Moves nothing. @module */

import type { Call, Own } from '../../../http/caller.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { BeneficiaryBody } from '../beneficiaries/beneficiary.contract.ts';
import type { Scheme } from '../sepa/scheme.rules.ts';
import type { TransferBody, TransferSplitBody } from './transfer.contract.ts';
import { divide } from './transfer.rules.ts';
import type { TransferLine, TransferOrder } from './transfer.service.ts';

/** Without `fromWalletId`: out of the owner's default wallet, or what the agent draws on. */
export type TransferRequest = TransferOrder & { readonly fromWalletId?: Id<'wallet'> | undefined };

type Caller = Pick<Call, 'newId'>;

/** To a bank account. */
export type BankOrder = {
  readonly id: Id<'transfer'>;
  readonly journalId: Id<'journal'>;
  readonly ownerId: Id<'owner'>;
  readonly agentId: Id<'agent'> | null;
  readonly intentId: Id<'intent'> | undefined;
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

/** What a call of `POST /transfers` asks for. */
export type TransferCall =
  | { readonly id: Id<'transfer'>; readonly between: TransferRequest }
  | { readonly id: Id<'transfer'>; readonly toBank: BankOrder };

export function transferCall(body: TransferBody, own: Own, call: Caller): TransferCall {
  const { to, beneficiaryId, toWalletId, fromWalletId, intentId, ...order } = body;
  assertOfAgent(intentId, own);
  const made = { id: call.newId('transfer'), journalId: call.newId('journal') };
  if (toWalletId !== undefined) {
    const { amountCents, reference, memo, metadata } = order;
    const line = { ...made, splitLine: null, toWalletId, amountCents, reference, memo, metadata };
    const between = { ...orderer(own), fromWalletId, intentId, totalCents: amountCents, splitId: null, lines: [line] };
    return { id: made.id, between };
  }
  const payee = payeeOf(to, beneficiaryId, call);
  const { scheme, amountCents, reference, memo, metadata } = order;
  const ordered = { ...made, ...orderer(own), fromWalletId, intentId };
  const toBank = { ...ordered, payee, scheme, amountCents, reference, memo, metadata };
  return { id: made.id, toBank };
}

function payeeOf(to: Payee | undefined, id: Id<'beneficiary'> | undefined, call: Caller): BankOrder['payee'] {
  if (to !== undefined) return { to, draft: draftOf(to, call) };
  if (id !== undefined) return { id };
  throw new DomainError('invalid_request', 'body: give exactly one of toWalletId, beneficiaryId and to');
}

const draftOf = (to: Payee, call: Caller) => ({ id: call.newId('beneficiary'), body: { ...to, agentsMayPay: false } });

export type BankLine = Pick<BankOrder, 'id' | 'journalId' | 'payee' | 'scheme' | 'amountCents' | 'reference'> & {
  /** Its place among the lines of the split. */
  readonly splitLine: number;
};

/** What a call of `POST /transfers/split` asks for: lines between wallets alone, or lines to banks as well. */
export type SplitRequest = Omit<TransferRequest, 'splitId'> & {
  readonly splitId: Id<'transferSplit'>;
  readonly bankLines: readonly BankLine[];
};

export function splitRequest(body: TransferSplitBody, own: Own, call: Caller): SplitRequest {
  const { fromWalletId, totalAmountCents, splits, intentId } = body;
  assertOfAgent(intentId, own);
  const division = divide(splits, totalAmountCents);
  if (!division.ok) throw new DomainError('invalid_request', division.why);
  const splitId = call.newId('transferSplit');
  const lines: TransferLine[] = [];
  const bankLines: BankLine[] = [];
  for (const [splitLine, amountCents] of division.amountsCents.entries()) {
    const { toWalletId, beneficiaryId, to, scheme, reference } = splits[splitLine] as (typeof splits)[number];
    const made = { id: call.newId('transfer'), journalId: call.newId('journal'), splitLine, amountCents, reference };
    if (toWalletId !== undefined) lines.push({ ...made, toWalletId });
    else bankLines.push({ ...made, scheme, payee: payeeOf(to, beneficiaryId, call) });
  }
  return { ...orderer(own), fromWalletId, intentId, totalCents: division.totalCents, splitId, lines, bankLines };
}

/** An intent is the plan of an agent; what the owner orders needs none. */
function assertOfAgent(intentId: Id<'intent'> | undefined, { agentId }: Own): void {
  if (intentId === undefined || agentId !== undefined) return;
  throw new DomainError('invalid_request', 'body.intentId: is for agents: a transfer of the owner pays for no intent');
}

const orderer = ({ ownerId, agentId }: Own) => ({ ownerId, agentId: agentId ?? null });
