/**
 * The ledger's part of a booking: one journal for each message of the network. Money that a closed agent may not keep
 * goes to its owner. Runs in the booking's transaction; decides no amounts.
 * @module
 */
import { sql } from 'kysely';
import { type Given, query } from '../../../db/db.ts';
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Cause } from '../../../platform/cause.ts';
import {
  type FundingSource,
  type JournalKind,
  lockAccounts,
  type Posting,
  postNew,
  wallet,
  walletToReturnTo,
} from '../../treasury/index.ts';
import { available, held } from '../../treasury/ledger/account.rules.ts';
import { fundingSourceOf } from './funding-source.rules.ts';
import type { TransactionRow } from './transaction.entity.ts';

/** The network's message, or the sweeper's own reason; `id` is unique per adapter. */
export type Source = { readonly adapter: string; readonly id: string };

/** `by`: the kind of message, where it is not that of the journal. */
type Journal = { kind: JournalKind; by?: string; source: Source; postings: readonly Posting[] };

/** Returns by how much it raised what the owner owes. A message is booked once, so its journal is new. */
export async function post(
  tx: Tx,
  row: TransactionRow,
  { kind, by = kind, source, postings }: Journal,
  cause: Cause,
): Promise<number> {
  if (postings.length === 0) return 0;
  const [posted] = await postNew(tx, cause, [
    {
      id: newId('journal'),
      ownerId: row.ownerId,
      agentId: row.agentId,
      kind,
      referenceType: 'transaction',
      referenceId: row.id,
      cause: `${by}:${source.adapter}:${source.id}`,
      postings,
    },
  ]);
  return Math.max(0, posted?.owedCents ?? 0);
}

type Payment = Pick<TransactionRow, 'ownerId' | 'agentId' | 'fundingSource'>;

/**
 * Where money goes that is no longer held: a closed agent keeps no budget, so the wallet that gave it takes it back.
 */
export async function restOf(tx: Tx, row: Payment): Promise<FundingSource> {
  const fundingSource = fundingSourceOf(row.fundingSource);
  if (fundingSource.kind !== 'agent') return fundingSource;
  const agent = await closedAgent.first(tx, { agentId: row.agentId });
  return agent === null ? fundingSource : wallet(await walletToReturnTo(tx, row.ownerId, agent.walletId));
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

const closedAgent = query((from, given: Given<{ agentId: string }>) =>
  from
    .selectFrom('agents')
    .select('walletId')
    .where('id', '=', given('agentId'))
    .where('status', '=', sql.lit('closed')),
);

/** The booking transaction has locked the agent (lock_payment). */
export async function isAgentClosed(tx: Tx, { agentId }: { readonly agentId: string }): Promise<boolean> {
  return (await runSql(tx, `select 1 from agents where id = $1 and status = 'closed'`, [agentId])) > 0;
}
