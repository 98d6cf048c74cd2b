/**
 * Moves the money of one call out of one account into wallets of the same owner: lock the wallets, post, save, record
 * the events, in the caller's transaction. All of it or nothing.
 * @module
 */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChanges } from '../../../events/record.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { type Cents, cents, eurosFromCents, inWords } from '../../../kernel/money.ts';
import type { Cause } from '../../../platform/cause.ts';
import { accountInWords, available, type FundingSource, wallet } from '../ledger/account.rules.ts';
import { walletTransfer } from '../ledger/ledger.rules.ts';
import { lockAccounts, postNew } from '../ledger/ledger.service.ts';
import type { WalletStatus } from '../wallets/wallet.rules.ts';
import { lockWalletsForShare } from '../wallets/wallet.service.ts';

export type TransferLine = {
  readonly id: Id<'transfer'>;
  readonly journalId: Id<'journal'>;
  readonly toWalletId: Id<'wallet'>;
  readonly amountCents: Cents;
  readonly reference?: string | undefined;
  readonly memo?: string | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
};

/** The transfers of one call. */
export type TransferOrder = {
  readonly ownerId: Id<'owner'>;
  /** Null: the owner orders. */
  readonly agentId: Id<'agent'> | null;
  readonly totalCents: Cents;
  /** Null: a single transfer, which has one line. */
  readonly splitId: Id<'transferSplit'> | null;
  readonly lines: readonly TransferLine[];
};

export async function completeTransfers(
  tx: Tx,
  cause: Cause,
  source: FundingSource,
  order: TransferOrder,
  details: Record<string, unknown> = {},
): Promise<void> {
  await lockWallets(tx, source, order);
  if (order.splitId !== null) await mustCover(tx, cause, source, order);
  const posted = await postNew(
    tx,
    cause,
    order.lines.map(({ id, journalId, toWalletId, amountCents }) => ({
      id: journalId,
      ownerId: order.ownerId,
      agentId: order.agentId,
      kind: 'internal_transfer',
      referenceType: 'transfer',
      referenceId: id,
      cause: `transfer:${id}`,
      postings: walletTransfer({ from: source, toWalletId, amountCents }),
    })),
  );
  await insert(tx, cause, source, order);
  const balances = posted.map(({ balances }) => balances);
  await recordChanges(tx, cause, changesOf(source, order, balances, details));
}

/** None of the wallets is closed or frozen before the transaction ends. */
async function lockWallets(tx: Tx, source: FundingSource, { ownerId, splitId, lines }: TransferOrder): Promise<void> {
  const fromWalletId = walletIdOf(source);
  const targets = lines.map(({ toWalletId }) => toWalletId);
  const named = fromWalletId === null ? targets : [fromWalletId, ...targets];
  const statuses = await lockWalletsForShare(tx, ownerId, [...new Set(named)]);
  if (fromWalletId !== null) mustBeActive('body.fromWalletId', fromWalletId, statuses);
  for (const [index, target] of targets.entries()) {
    const field = splitId === null ? 'body.toWalletId' : `body.splits.${index}.toWalletId`;
    if (target === fromWalletId) throw new DomainError('invalid_request', `${field}: is where the money comes from`);
    mustBeActive(field, target, statuses);
  }
}

function mustBeActive(field: string, walletId: string, statuses: ReadonlyMap<string, WalletStatus>): void {
  const status = statuses.get(walletId);
  if (status === undefined) throw notFound('wallet', walletId);
  if (status !== 'active') throw new DomainError('invalid_state', `${field}: wallet ${walletId} is ${status}`);
}

/** Refuses a split with the figures of its total; the posting would name those of the first line that is not covered. */
async function mustCover(tx: Tx, cause: Cause, source: FundingSource, order: TransferOrder): Promise<void> {
  const from = available(source);
  const targets = order.lines.map(({ toWalletId }) => available(wallet(toWalletId)));
  const balances = await lockAccounts(tx, cause, order.ownerId, [...new Set([from, ...targets])]);
  const balanceCents = balances[from] ?? 0;
  if (balanceCents >= order.totalCents) return;
  throw new DomainError(
    'insufficient_funds',
    `${accountInWords(from)} has ${inWords(balanceCents)} euros available, ${inWords(order.totalCents)} asked: ` +
      'fund it, or ask for less',
  );
}

const walletIdOf = ({ kind, id }: FundingSource): Id<'wallet'> | null =>
  kind === 'wallet' ? (id as Id<'wallet'>) : null;

async function insert(tx: Tx, cause: Cause, source: FundingSource, order: TransferOrder): Promise<void> {
  const { ownerId, agentId, splitId, totalCents, lines } = order;
  const shared = [ownerId, agentId, walletIdOf(source), cause.requestId, cause.runId ?? null, cause.at];
  if (splitId !== null) {
    await runSql(
      tx,
      `insert into transfer_splits (id, owner_id, agent_id, from_wallet_id, total_amount_cents, status, request_id,
         run_id, created_at, completed_at)
       values ($7, $1, $2, $3, $8, 'completed', $4, $5, $6, $6)`,
      [...shared, splitId, totalCents],
    );
  }
  const rows = lines.map((line, index) => ({ ...line, splitLine: splitId === null ? null : index }));
  await runSql(
    tx,
    `insert into transfers (id, owner_id, agent_id, type, from_wallet_id, to_wallet_id, amount_cents, reference, memo,
       metadata, status, split_id, split_line, journal_id, request_id, run_id, created_at, completed_at, updated_at)
     select l."id", $1, $2, 'internal', $3, l."toWalletId", l."amountCents", l."reference", l."memo",
       coalesce(l."metadata", '{}'), 'completed', $7, l."splitLine", l."journalId", $4, $5, $6, $6, $6
     from jsonb_to_recordset($8::jsonb) as l ("id" text, "toWalletId" text, "amountCents" bigint, "reference" text,
       "memo" text, "metadata" jsonb, "splitLine" smallint, "journalId" text)`,
    [...shared, splitId, JSON.stringify(rows)],
  );
}

/** `details` are those of the audit row of each transfer. */
function changesOf(
  source: FundingSource,
  order: TransferOrder,
  balances: readonly Readonly<Record<string, number>>[],
  details: Record<string, unknown>,
): Change[] {
  const { ownerId, agentId, splitId, totalCents, lines } = order;
  const shared = { ownerId, agentId, status: 'completed', fromWalletId: walletIdOf(source) };
  const changes = lines.flatMap(({ id, toWalletId, amountCents }, index): Change[] => {
    const account = available(wallet(toWalletId));
    const amountEuros = eurosFromCents(amountCents);
    const balanceEuros = eurosFromCents(cents(balances[index]?.[account] ?? 0));
    return [
      {
        event: 'transfer.completed',
        ownerId,
        agentId,
        subjectId: id,
        data: {
          ...{ id, ...shared, type: 'internal', toWalletId, beneficiaryId: null, amountEuros, splitId },
          failureReason: null,
        },
        details: { amountCents, ...details },
      },
      {
        event: 'wallet.credited',
        ownerId,
        subjectId: toWalletId,
        data: {
          ...{ id: toWalletId, ownerId, walletId: toWalletId, amountEuros, balanceEuros, source: 'transfer' },
          ...{ agentId: null, account, fundingId: null, transferId: id },
        },
        audited: false,
      },
    ];
  });
  if (splitId === null) return changes;
  const totalAmountEuros = eurosFromCents(totalCents);
  const data = { id: splitId, ...shared, totalAmountEuros, lines: lines.length };
  const event = 'transfer.split.completed';
  return [...changes, { event, ownerId, agentId, subjectId: splitId, data, details: { totalCents } }];
}
