/**
 * Writes of transfers to bank accounts: rows, journals, marks of causes, events and workflow runs of any number of moves,
 * in the caller's transaction, each kind in one statement. The rules decide the moves; the caller holds the rows' locks.
 * @module
 */
import * as z from 'zod';
import { columnNameOf } from '../../../db/column-names.ts';
import { columnRow } from '../../../db/column-row.ts';
import { idValue } from '../../../db/row-values.ts';
import { rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChanges, recordChangesOfCauses } from '../../../events/record.ts';
import { unavailable } from '../../../kernel/errors.ts';
import { type Id, newId } from '../../../kernel/ids.ts';
import { type Cents, cents, eurosFromCents } from '../../../kernel/money.ts';
import type { Cause } from '../../../platform/cause.ts';
import { closeWorkflowRuns, wakeWorkflowRunsAt } from '../../../platform/workflow-runs.ts';
import { agentBudget, available, type FundingSource, wallet } from '../ledger/account.rules.ts';
import { bankCredit, bankPayment, type Posting, release } from '../ledger/ledger.rules.ts';
import { balancesAfter, type JournalDraft, postNew } from '../ledger/ledger.service.ts';
import {
  type BankTransferStage,
  bankTransferStatus,
  postingsOf,
  recallAfter,
  type TransferPosting,
} from '../sepa/bank-transfer.rules.ts';
import { inBerlin, returnWindowEnd } from '../sepa/banking-day.rules.ts';
import { bankTransferWorkflowId } from './bank-transfer.messages.ts';
import type { BankTransfer } from './bank-transfer.queries.ts';
import { dueAt, isClosed } from './bank-transfer.run.rules.ts';
import { bankTransferData } from './transfer.wire.ts';
import { updateSplits } from './transfer-split.service.ts';

/** One step of one transfer, in the order in which the steps of a transfer follow each other. */
export type TransferStep = {
  readonly before: BankTransfer;
  readonly after: BankTransfer;
  readonly cause: Cause;
};

/** The transfer in its next stage, with what follows from the stage. */
export function inStage(
  row: BankTransfer,
  stage: BankTransferStage,
  at: Date,
  change: Partial<BankTransfer> = {},
): BankTransfer {
  const leaves = stage === 'settled' || stage === 'returned' || stage === 'recalled';
  const completed = leaves && row.completedAt === null;
  return {
    ...row,
    stage,
    status: bankTransferStatus(stage),
    recallOutcome: recallAfter(stage, row.recallOutcome),
    updatedAt: at,
    ...(completed && { completedAt: at, returnWindowEndsAt: returnWindowEnd(inBerlin(at).date) }),
    ...change,
  };
}

/** All of it or nothing. `isOwnStep`: the run makes these moves itself and needs no wake. */
export async function saveSteps(tx: Tx, steps: readonly TransferStep[], { isOwnStep = false } = {}): Promise<void> {
  if (steps.length === 0) return;
  const posted = await post(tx, steps);
  await update(tx, [...lastOf(steps).values()]);
  await noteTransitions(tx, steps);
  await recordChangesOfCauses(
    tx,
    steps.map((step) => ({ cause: step.cause, changes: changesOf(step, posted) })),
  );
  await wakeRuns(tx, steps, isOwnStep);
  await updateSplits(tx, splitCausesOf(steps));
}

/** By split: what moved its last line. */
const splitCausesOf = (steps: readonly TransferStep[]): Map<string, Cause> =>
  new Map(steps.flatMap(({ after: { splitId }, cause }) => (splitId === null ? [] : [[splitId, cause] as const])));

const lastOf = (steps: readonly TransferStep[]): Map<string, BankTransfer> =>
  new Map(steps.map(({ after }) => [after.id, after]));

/** By step: the credit that its journals made, if any. */
type Posted = ReadonlyMap<TransferStep, { readonly to: FundingSource; readonly balanceCents: Cents }>;

async function post(tx: Tx, steps: readonly TransferStep[]): Promise<Posted> {
  const moving = steps.filter(({ before, after }) => postingsOf(before.stage, after.stage).length > 0);
  const targets = await returnTargets(tx, moving);
  const drafts = moving.flatMap((step) =>
    postingsOf(step.before.stage, step.after.stage).map((posting) => ({
      step,
      posting,
      journal: journalOf(step, posting, targets.get(step.after.id) ?? sourceOf(step.after)),
    })),
  );
  const [first] = steps;
  if (first === undefined || drafts.length === 0) return new Map();
  const results = await postNew(
    tx,
    first.cause,
    drafts.map(({ journal }) => journal),
  );
  const back = drafts.flatMap(({ step, posting }, index) => {
    const to = targets.get(step.after.id) ?? sourceOf(step.after);
    return posting === 'takeBack' ? [{ step, to, account: available(to), result: results[index] }] : [];
  });
  const balances = await balancesAfter(tx, back);
  return new Map(back.map(({ step, to }, index) => [step, { to, balanceCents: balances[index] ?? cents(0) }]));
}

export const sourceOf = ({ fromWalletId, agentId }: BankTransfer): FundingSource =>
  fromWalletId === null ? agentBudget(agentId ?? '') : wallet(fromWalletId);

function journalOf({ after, cause: by }: TransferStep, posting: TransferPosting, to: FundingSource): JournalDraft {
  const { id, ownerId, agentId } = after;
  return {
    id: newId('journal'),
    ownerId,
    agentId,
    kind: 'sepa_transfer',
    referenceType: 'transfer',
    referenceId: id,
    cause: `transfer:${id}:${posting}`,
    postings: postingLines[posting](after, to),
    by,
  };
}

const postingLines: Record<TransferPosting, (row: BankTransfer, to: FundingSource) => Posting[]> = {
  pay: (row) => bankPayment({ ...row, from: sourceOf(row) }),
  takeBack: (row, to) => bankCredit({ ...row, to }),
  release: (row, to) => release({ ...row, from: sourceOf(row), restTo: to }),
};

const walletRow = columnRow({
  id: idValue('wallet'),
  ownerId: z.string(),
  isDefault: z.boolean(),
  isOpen: z.boolean(),
});
const closedAgentRow = columnRow({ id: z.string(), walletId: idValue('wallet') });

/**
 * Where money goes that comes back: where it came from; the wallet of an agent that is closed; the default wallet where
 * that one is closed. None of them can be closed before the transaction ends.
 */
async function returnTargets(tx: Tx, steps: readonly TransferStep[]): Promise<ReadonlyMap<string, FundingSource>> {
  const back = steps
    .filter(({ before, after }) => postingsOf(before.stage, after.stage).some((posting) => posting !== 'pay'))
    .map(({ after }) => after);
  if (back.length === 0) return new Map();
  const budgets = back.flatMap(({ fromWalletId, agentId }) =>
    fromWalletId === null && agentId !== null ? [agentId] : [],
  );
  const closed = await rowsOf(
    tx,
    closedAgentRow,
    `select id, wallet_id from agents where id = any($1::text[]) and status = 'closed'`,
    [budgets],
  );
  const walletOfClosed = new Map(closed.map(({ id, walletId }) => [id, walletId]));
  const wanted = ({ fromWalletId, agentId }: BankTransfer): Id<'wallet'> | undefined =>
    fromWalletId ?? walletOfClosed.get(agentId ?? '');
  const wallets = await rowsOf(
    tx,
    walletRow,
    `select id, owner_id, is_default, status <> 'closed' as is_open from wallets
     where id = any($1::text[]) or (owner_id = any($2::text[]) and is_default) order by id for share`,
    [[...new Set(back.flatMap((row) => wanted(row) ?? []))], [...new Set(back.map(({ ownerId }) => ownerId))]],
  );
  const open = new Set<string>(wallets.filter(({ isOpen }) => isOpen).map(({ id }) => id));
  const defaults = new Map(wallets.filter(({ isDefault }) => isDefault).map(({ id, ownerId }) => [ownerId, id]));
  return new Map(
    back.map((row) => {
      const walletId = wanted(row);
      if (walletId === undefined) return [row.id, sourceOf(row)];
      const target = open.has(walletId) ? walletId : defaults.get(row.ownerId);
      // The statement waited for a switch of the default wallet: the next one sees it.
      if (target === undefined) throw unavailable('the default wallet is being changed');
      return [row.id, wallet(target)];
    }),
  );
}

/** What can change. The keys are the entity's; a column is named once here, with its type. */
const changing = {
  status: 'text',
  stage: 'text',
  updatedAt: 'timestamptz',
  completedAt: 'timestamptz',
  failureReason: 'text',
  reasonCode: 'text',
  payeeCheck: 'text',
  approvalRule: 'text',
  expiresAt: 'timestamptz',
  decidedBy: 'text',
  decidedAt: 'timestamptz',
  decisionReason: 'text',
  sendingCause: 'text',
  sendUntil: 'timestamptz',
  sentAt: 'timestamptz',
  executionDate: 'text',
  settlementDate: 'text',
  askedAt: 'timestamptz',
  asks: 'smallint',
  reminders: 'smallint',
  returnWindowEndsAt: 'timestamptz',
  recallRequestedAt: 'timestamptz',
  recallOutcome: 'text',
  closedAt: 'timestamptz',
} as const satisfies Partial<Record<keyof BankTransfer, string>>;

const properties = Object.keys(changing) as (keyof typeof changing)[];
const updateSql = `update transfers t set ${properties.map((name) => `${columnNameOf(name)} = n."${name}"`).join(', ')}
  from jsonb_to_recordset($1::jsonb) as n (id text, ${Object.entries(changing)
    .map(([name, type]) => `"${name}" ${type}`)
    .join(', ')})
  where t.id = n.id`;

async function update(tx: Tx, rows: readonly BankTransfer[]): Promise<void> {
  const items = rows.map((row) => ({ id: row.id, ...Object.fromEntries(properties.map((name) => [name, row[name]])) }));
  await runSql(tx, updateSql, [JSON.stringify(items)]);
}

/** Further figures of transfers that stay in their stage, such as how often the bank was asked. */
export async function saveFigures(tx: Tx, row: BankTransfer): Promise<void> {
  await update(tx, [row]);
  await wakeRunsOf(tx, [row], row.updatedAt, true);
}

/** The owner wants back what the bank may have: the run asks the bank. */
export async function saveRecallRequest(tx: Tx, row: BankTransfer, cause: Cause): Promise<BankTransfer> {
  const after: BankTransfer = { ...row, recallRequestedAt: cause.at, recallOutcome: 'asking', updatedAt: cause.at };
  await update(tx, [after]);
  await recordChanges(tx, cause, [transferChange('transfer.updated', after)]);
  await wakeRunsOf(tx, [after], cause.at, false);
  return after;
}

async function noteTransitions(tx: Tx, steps: readonly TransferStep[]): Promise<void> {
  const marks = steps.map(({ before, after, cause }) => ({
    ...{ id: after.id, cause: cause.causeId, from: before.stage, to: after.stage, at: cause.at },
  }));
  await runSql(
    tx,
    `insert into transitions select 'transfer', id, cause, "from", "to", at
     from jsonb_to_recordset($1::jsonb) as m (id text, cause text, "from" text, "to" text, at timestamptz)`,
    [JSON.stringify(marks)],
  );
}

/** Which of these causes have moved which transfer before, as `id cause`. */
export async function seenCauses(
  tx: Tx,
  causes: readonly { readonly id: string; readonly cause: string }[],
): Promise<ReadonlySet<string>> {
  const found = await rowsOf(
    tx,
    z.object({ key: z.string() }),
    `select t.row_id || ' ' || t.cause_id as key from jsonb_to_recordset($1::jsonb) as w (id text, cause text)
     join transitions t on t.noun = 'transfer' and t.row_id = w.id and t.cause_id = w.cause`,
    [JSON.stringify(causes)],
  );
  return new Set(found.map(({ key }) => key));
}

/** By transfer: the cause of the entry that took its money from the account, also where a report had settled it before. */
export async function debitsOf(tx: Tx, ids: readonly string[]): Promise<Map<string, string>> {
  const found = await rowsOf(
    tx,
    z.object({ id: z.string(), cause: z.string() }),
    `select row_id as id, cause_id as cause from transitions where noun = $1 and row_id = any($2::text[])`,
    [debitNoun, [...ids]],
  );
  return new Map(found.map(({ id, cause }) => [id, cause]));
}

/** The transfers are locked. */
export async function noteDebits(tx: Tx, debits: ReadonlyMap<string, string>, at: Date): Promise<void> {
  if (debits.size === 0) return;
  await runSql(
    tx,
    `insert into transitions select $1, id, cause, null, 'settled', $4 from unnest($2::text[], $3::text[]) as d (id, cause)`,
    [debitNoun, [...debits.keys()], [...debits.values()], at],
  );
}

const debitNoun = 'transfer_debit';

/** Of which entries of the bank the transfer has heard one payment. The transfers are locked. */
export async function noteEntries(
  tx: Tx,
  entries: readonly { readonly id: string; readonly cause: string }[],
  at: Date,
): Promise<void> {
  if (entries.length === 0) return;
  await runSql(
    tx,
    `insert into transitions
     select distinct 'transfer_entry', id, cause, null, 'heard', $2::timestamptz
     from jsonb_to_recordset($1::jsonb) as e (id text, cause text)
     on conflict do nothing`,
    [JSON.stringify(entries), at],
  );
}

type TransferEvent =
  | 'transfer.created'
  | 'transfer.updated'
  | 'transfer.reminded'
  | 'transfer.completed'
  | 'transfer.failed';

export const transferChange = (event: TransferEvent, row: BankTransfer): Change => ({
  event,
  ownerId: row.ownerId,
  agentId: row.agentId,
  subjectId: row.id,
  data: bankTransferData(row),
  details: {
    amountCents: row.amountCents,
    stage: row.stage,
    ...(row.failureReason !== null && { why: row.failureReason }),
  },
});

function changesOf(step: TransferStep, posted: Posted): Change[] {
  const { before, after } = step;
  if (postingsOf(before.stage, after.stage).length === 0) return [transferChange('transfer.updated', after)];
  const back = posted.get(step);
  const completed = before.completedAt === null && after.completedAt !== null;
  return [
    // A return that overtook the debit reports both.
    ...(completed
      ? [transferChange('transfer.completed', { ...after, status: 'completed', failureReason: null })]
      : []),
    ...(after.stage === 'settled' ? [] : [transferChange('transfer.failed', after)]),
    ...(back === undefined ? [] : [creditOf(after, back.to, back.balanceCents)]),
  ];
}

function creditOf(row: BankTransfer, to: FundingSource, balanceCents: Cents): Change {
  const account = available(to);
  const walletId = to.kind === 'wallet' ? (to.id as Id<'wallet'>) : row.payerWalletId;
  return {
    event: 'wallet.credited',
    ownerId: row.ownerId,
    subjectId: to.id,
    data: {
      ...{ id: to.id, ownerId: row.ownerId, walletId, amountEuros: eurosFromCents(row.amountCents) },
      ...{ balanceEuros: eurosFromCents(balanceCents), source: 'transfer' },
      ...{ agentId: to.kind === 'agent' ? to.id : null, account, fundingId: null, transferId: row.id },
    },
    audited: false,
  };
}

async function wakeRuns(tx: Tx, steps: readonly TransferStep[], isOwnStep: boolean): Promise<void> {
  const at = steps[0]?.cause.at;
  if (at !== undefined) await wakeRunsOf(tx, [...lastOf(steps).values()], at, isOwnStep);
}

async function wakeRunsOf(tx: Tx, rows: readonly BankTransfer[], at: Date, isOwnStep: boolean): Promise<void> {
  const [closed, open] = [rows.filter(isClosed), rows.filter((row) => !isClosed(row))];
  const wakes = open.map((row) => ({ id: bankTransferWorkflowId(row.id), dueAt: dueAt(row, at) }));
  await wakeWorkflowRunsAt(tx, wakes, { isOwnStep });
  await closeWorkflowRuns(
    tx,
    closed.map(({ id }) => bankTransferWorkflowId(id)),
    { isOwnStep },
  );
}
