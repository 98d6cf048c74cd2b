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
import { accountInWords, available, type FundingSource, type OwnerAccount, wallet } from '../ledger/account.rules.ts';
import { walletTransfer } from '../ledger/ledger.rules.ts';
import { type JournalDraft, lockAccounts, notCovered, type PostResult, postNew } from '../ledger/ledger.service.ts';
import type { WalletStatus } from '../wallets/wallet.rules.ts';
import { lockWalletsForShare } from '../wallets/wallet.service.ts';

export type TransferLine = {
  readonly id: Id<'transfer'>;
  readonly journalId: Id<'journal'>;
  /** Its place among the lines of its split; null for a single transfer. */
  readonly splitLine: number | null;
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
  /** What the agent declared, and this pays for. */
  readonly intentId?: Id<'intent'> | undefined;
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
  const posted = await postNew(tx, cause, walletJournals(source, order));
  if (order.splitId !== null) {
    await insertSplit(tx, cause, source, { ...order, splitId: order.splitId, approvalRule: null, status: 'completed' });
  }
  await insertTransfers(tx, cause, source, order);
  const changes = transferChanges(source, order, posted, details);
  await recordChanges(tx, cause, [...changes, ...splitCompleted(source, order)]);
}

export const walletJournals = (source: FundingSource, { ownerId, agentId, lines }: TransferOrder): JournalDraft[] =>
  lines.map(({ id, journalId, toWalletId, amountCents }) => ({
    id: journalId,
    ownerId,
    agentId,
    kind: 'internal_transfer',
    referenceType: 'transfer',
    referenceId: id,
    cause: `transfer:${id}`,
    postings: walletTransfer({ from: source, toWalletId, amountCents }),
  }));

/**
 * None of the wallets is closed or frozen before the transaction ends. `payerWalletId`: the one whose account a bank
 * debits.
 */
export async function lockWallets(
  tx: Tx,
  source: FundingSource,
  { ownerId, lines }: Pick<TransferOrder, 'ownerId' | 'lines'>,
  payerWalletId: Id<'wallet'> | null = null,
): Promise<void> {
  const fromWalletId = walletIdOf(source) ?? payerWalletId;
  const targets = lines.map(({ toWalletId }) => toWalletId);
  const named = fromWalletId === null ? targets : [fromWalletId, ...targets];
  const statuses = await lockWalletsForShare(tx, ownerId, [...new Set(named)]);
  if (fromWalletId !== null) mustBeActive('body.fromWalletId', fromWalletId, statuses);
  for (const { toWalletId, splitLine } of lines) {
    const field = splitLine === null ? 'body.toWalletId' : `body.splits.${splitLine}.toWalletId`;
    if (toWalletId === walletIdOf(source)) {
      throw new DomainError('invalid_request', `${field}: is where the money comes from`);
    }
    mustBeActive(field, toWalletId, statuses);
  }
}

function mustBeActive(field: string, walletId: string, statuses: ReadonlyMap<string, WalletStatus>): void {
  const status = statuses.get(walletId);
  if (status === undefined) throw notFound('wallet', walletId);
  if (status !== 'active') throw new DomainError('invalid_state', `${field}: wallet ${walletId} is ${status}`);
}

type Covered = Pick<TransferOrder, 'ownerId' | 'totalCents' | 'lines'>;

/**
 * Refuses a split with the figures of its total; the posting would name those of the first line that is not covered.
 * `others`: further accounts that the transaction will post to.
 */
export async function mustCover(
  tx: Tx,
  cause: Cause,
  source: FundingSource,
  { ownerId, totalCents, lines }: Covered,
  others: readonly OwnerAccount[] = [],
): Promise<void> {
  const from = available(source);
  const targets = lines.map(({ toWalletId }) => available(wallet(toWalletId)));
  const balances = await lockAccounts(tx, cause, ownerId, [...new Set([from, ...others, ...targets])]);
  const balanceCents = balances[from] ?? 0;
  if (balanceCents >= totalCents) return;
  throw new DomainError(
    'insufficient_funds',
    `${accountInWords(from)} has ${inWords(balanceCents)} euros available, ${inWords(totalCents)} asked: ` +
      'fund it, or ask for less',
    { refusedBy: notCovered(balanceCents, totalCents) },
  );
}

const walletIdOf = ({ kind, id }: FundingSource): Id<'wallet'> | null =>
  kind === 'wallet' ? (id as Id<'wallet'>) : null;

type NewSplit = Pick<TransferOrder, 'ownerId' | 'agentId' | 'totalCents'> & {
  readonly splitId: Id<'transferSplit'>;
  /** The rule that asks for a person. */
  readonly approvalRule: string | null;
  readonly status: 'completed' | 'pending';
};

export async function insertSplit(tx: Tx, cause: Cause, source: FundingSource, split: NewSplit): Promise<void> {
  const { splitId, ownerId, agentId, totalCents, approvalRule, status } = split;
  await runSql(
    tx,
    `insert into transfer_splits (id, owner_id, agent_id, from_wallet_id, total_amount_cents, status, approval_rule,
       request_id, run_id, created_at, updated_at, completed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11)`,
    [
      ...[splitId, ownerId, agentId, walletIdOf(source), totalCents, status, approvalRule, cause.requestId],
      ...[cause.runId ?? null, cause.at, status === 'completed' ? cause.at : null],
    ],
  );
}

export async function insertTransfers(
  tx: Tx,
  cause: Cause,
  source: FundingSource,
  { ownerId, agentId, splitId, intentId, lines }: TransferOrder,
): Promise<void> {
  await runSql(
    tx,
    `insert into transfers (id, owner_id, agent_id, type, from_wallet_id, to_wallet_id, amount_cents, reference, memo,
       metadata, status, split_id, split_line, intent_id, journal_id, request_id, run_id, created_at, completed_at,
       updated_at)
     select l."id", $1, $2, 'internal', $3, l."toWalletId", l."amountCents", l."reference", l."memo",
       coalesce(l."metadata", '{}'), 'completed', $7, l."splitLine", $9, l."journalId", $4, $5, $6, $6, $6
     from jsonb_to_recordset($8::jsonb) as l ("id" text, "toWalletId" text, "amountCents" bigint, "reference" text,
       "memo" text, "metadata" jsonb, "splitLine" smallint, "journalId" text)`,
    [
      ...[ownerId, agentId, walletIdOf(source), cause.requestId, cause.runId ?? null, cause.at, splitId],
      ...[JSON.stringify(lines), intentId ?? null],
    ],
  );
}

/** `details` are those of the audit row of each transfer; `posted` are the outcomes of its lines, in their order. */
export function transferChanges(
  source: FundingSource,
  { ownerId, agentId, splitId, intentId, lines }: TransferOrder,
  posted: readonly Pick<PostResult, 'balances'>[],
  details: Record<string, unknown>,
): Change[] {
  const shared = { ownerId, agentId, status: 'completed', fromWalletId: walletIdOf(source) };
  return lines.flatMap(({ id, toWalletId, amountCents }, index): Change[] => {
    const account = available(wallet(toWalletId));
    const amountEuros = eurosFromCents(amountCents);
    const balanceEuros = eurosFromCents(cents(posted[index]?.balances[account] ?? 0));
    return [
      {
        event: 'transfer.completed',
        ownerId,
        agentId,
        subjectId: id,
        data: {
          ...{
            id,
            ...shared,
            type: 'internal',
            toWalletId,
            beneficiaryId: null,
            amountEuros,
            splitId,
            intentId: intentId ?? null,
          },
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
}

/** Of a split between wallets alone, which is completed when it is made. */
function splitCompleted(source: FundingSource, order: TransferOrder): Change[] {
  const { ownerId, agentId, splitId, totalCents, lines } = order;
  if (splitId === null) return [];
  const totalAmountEuros = eurosFromCents(totalCents);
  const data = {
    ...{ id: splitId, ownerId, agentId, status: 'completed', fromWalletId: walletIdOf(source), totalAmountEuros },
    ...{ completedAmountEuros: totalAmountEuros, lines: lines.length, completedLines: lines.length },
  };
  return [{ event: 'transfer.split.completed', ownerId, agentId, subjectId: splitId, data, details: { totalCents } }];
}
