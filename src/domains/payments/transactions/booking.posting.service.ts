/**
 * The ledger's side of a booking: one journal for what the network said, and another for what an agent that is closed
 * may not keep. Part of the booking's transaction; decides no amounts.
 * @module
 */
import { rows, type Tx } from '../../../db/tx.ts';
import { unavailable } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Cause } from '../../../platform/cause.ts';
import {
  agentReturn,
  available,
  type JournalDraft,
  type JournalKind,
  type Posting,
  postJournals,
} from '../../treasury/index.ts';
import { purseOf } from './purse.rules.ts';
import type { TransactionRow } from './transaction.entity.ts';

/** The network's message, or the sweeper's own reason; `id` is unique per adapter. */
export type Source = { readonly adapter: string; readonly id: string };

type Journal = { kind: JournalKind; source: Source; postings: readonly Posting[] };

export async function post(
  tx: Tx,
  row: TransactionRow,
  { kind, source, postings }: Journal,
  cause: Cause,
): Promise<void> {
  if (postings.length === 0) return;
  const draft = (part: string, of: JournalKind, lines: readonly Posting[]): JournalDraft => ({
    id: newId('journal'),
    ownerId: row.ownerId,
    agentId: row.agentId,
    kind: of,
    referenceType: 'transaction',
    referenceId: row.id,
    cause: `${part}:${source.adapter}:${source.id}`,
    postings: lines,
  });
  const returned = await toOwnerOfClosedAgent(tx, row, postings);
  await postJournals(tx, cause, [
    draft(kind, kind, postings),
    ...(returned.length === 0 ? [] : [draft('agent_return', 'agent_return', returned)]),
  ]);
}

/** A closed agent keeps no budget: what comes back to it goes on to the owner's default wallet. */
async function toOwnerOfClosedAgent(
  tx: Tx,
  row: TransactionRow,
  postings: readonly Posting[],
): Promise<readonly Posting[]> {
  const purse = purseOf(row.purse);
  const amountCents = postings.find(({ account }) => account === available(purse))?.amountCents ?? 0;
  if (purse.kind !== 'agent' || amountCents <= 0) return [];
  if (!(await isAgentClosed(tx, row))) return [];
  const walletId = await defaultWalletOf(tx, row.ownerId);
  return agentReturn({ walletId, agentId: row.agentId, amountCents });
}

/**
 * Its own wallet may be closed by now; the default one cannot be while it is held here. A switch of the default that
 * commits while we wait leaves the statement without a row; the next one sees the new default.
 */
async function defaultWalletOf(tx: Tx, ownerId: string): Promise<string> {
  for (let look = 0; look < 3; look++) {
    const [found] = await rows<{ id: string }>(
      tx,
      'select id from wallets where owner_id = $1 and is_default for share',
      [ownerId],
    );
    if (found !== undefined) return found.id;
  }
  throw unavailable('the default wallet is being changed');
}

/** Whoever books holds the agent as it is (lock_payment). */
export async function isAgentClosed(tx: Tx, { agentId }: TransactionRow): Promise<boolean> {
  return (await rows(tx, `select 1 from agents where id = $1 and status = 'closed'`, [agentId])).length > 0;
}
