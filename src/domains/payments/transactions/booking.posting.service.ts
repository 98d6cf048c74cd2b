/**
 * The ledger's part of a booking: one journal for each message of the network. Money that a closed agent may not keep
 * goes to its owner. Runs in the booking's transaction; decides no amounts.
 * @module
 */
import * as z from 'zod';
import { columnRow } from '../../../db/column-row.ts';
import { rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Cause } from '../../../platform/cause.ts';
import {
  type FundingSource,
  type JournalDraft,
  type JournalKind,
  lockAccounts,
  type Posting,
  type PostResult,
  postNew,
  wallet,
  walletsToReturnTo,
  walletToReturnTo,
} from '../../treasury/index.ts';
import { available, held } from '../../treasury/ledger/account.rules.ts';
import type { MerchantCharge } from '../network/merchant-charge.rules.ts';
import { fundingSourceOf } from './funding-source.rules.ts';
import type { TransactionRow } from './transaction.entity.ts';

/** The network's message, or the sweeper's own reason; `id` is unique per adapter. */
export type Source = MerchantCharge & { readonly adapter: string; readonly id: string };

export const sourceOf = (
  adapter: string,
  { id, merchantAmount, merchantCurrency }: Omit<Source, 'adapter'>,
): Source => ({
  ...{ adapter, id, merchantAmount, merchantCurrency },
});

/** `by`: the kind of message, where it is not that of the journal. */
type Journal = { kind: JournalKind; by?: string; source: Source; postings: readonly Posting[] };

/** Returns by how much it raised what the owner owes. A message is booked once, so its journal is new. */
export async function post(tx: Tx, row: TransactionRow, journal: Journal, cause: Cause): Promise<number> {
  const [posted] = await postAll(tx, [{ ...journal, row, cause }]);
  return Math.max(0, posted?.owedCents ?? 0);
}

type OfPayment = Journal & { readonly row: TransactionRow; readonly cause: Cause };

/** Journals of many payments; one without postings is left out. */
export async function postAll(tx: Tx, journals: readonly OfPayment[]): Promise<PostResult[]> {
  const [first, ...others] = journals.filter(({ postings }) => postings.length > 0);
  return first === undefined ? [] : postNew(tx, first.cause, [first, ...others].map(draftOf));
}

const draftOf = ({ row, kind, by = kind, source, postings, cause }: OfPayment): JournalDraft => ({
  id: newId('journal'),
  ownerId: row.ownerId,
  agentId: row.agentId,
  kind,
  referenceType: 'transaction',
  referenceId: row.id,
  cause: `${by}:${source.adapter}:${source.id}`,
  postings,
  by: cause,
});

type Payment = Pick<TransactionRow, 'ownerId' | 'agentId' | 'fundingSource'>;

/**
 * Where money goes that is no longer held: a closed agent keeps no budget, so the wallet that gave it takes it back.
 */
export async function restOf(tx: Tx, row: Payment): Promise<FundingSource> {
  const rests = await restsOf(tx, [row]);
  return rests.get(row) ?? fundingSourceOf(row.fundingSource);
}

/** The same of many payments: those whose money goes elsewhere. */
export async function restsOf<Of extends Payment>(
  tx: Tx,
  payments: readonly Of[],
): Promise<ReadonlyMap<Of, FundingSource>> {
  const ofBudgets = payments.filter((row) => fundingSourceOf(row.fundingSource).kind === 'agent');
  const closed = await closedAgents(
    tx,
    ofBudgets.map(({ agentId }) => agentId),
  );
  const returned = ofBudgets.flatMap((row) => {
    const walletId = closed.get(row.agentId);
    return walletId === undefined ? [] : [{ row, ownerId: row.ownerId, walletId }];
  });
  if (returned.length === 0) return new Map();
  const wallets = await walletsToReturnTo(tx, returned);
  return new Map(returned.map(({ row, walletId }) => [row, wallet(wallets.get(walletId) as string)]));
}

/** The account that a refund is credited to: a closed agent, or a closed wallet, takes no money. */
export async function creditedBy(tx: Tx, row: Payment): Promise<FundingSource> {
  const to = await restOf(tx, row);
  return to.kind === 'agent' ? to : wallet(await walletToReturnTo(tx, row.ownerId, to.id));
}

/** Before several messages of a payment are booked: all that they move is locked at once, as the ledger demands. */
export async function lockForEarly(
  tx: Tx,
  payment: Payment,
  early: readonly { readonly kind: string }[],
  cause: Cause,
): Promise<void> {
  const from = fundingSourceOf(payment.fundingSource);
  const isRefunded = early.some(({ kind }) => kind === 'refund');
  const to = early.length === 0 ? from : await (isRefunded ? creditedBy : restOf)(tx, payment);
  await lockAccounts(tx, cause, payment.ownerId, [...new Set([available(from), held(from), available(to)])]);
}

const closedAgent = columnRow({ id: z.string(), walletId: z.string() });

/** Those of these agents that are closed, each with its wallet. The booking transaction has locked the agents (lock_payments). */
export async function closedAgents(tx: Tx, agentIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (agentIds.length === 0) return new Map();
  const found = await rowsOf(
    tx,
    closedAgent,
    `select id, wallet_id from agents where id = any ($1::text[]) and status = 'closed'`,
    [[...new Set(agentIds)]],
  );
  return new Map(found.map(({ id, walletId }) => [id, walletId]));
}

export const isAgentClosed = async (tx: Tx, { agentId }: { readonly agentId: string }): Promise<boolean> =>
  (await closedAgents(tx, [agentId])).size > 0;
