/**
 * Creates a split with lines to banks in the caller's transaction, all of it or nothing: moves the money of the lines to
 * wallets, holds that of the lines to banks, saves the rows, records the events, and opens the runs.
 * @module
 */
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import { sepaTextOf } from '../../../kernel/sepa-text.ts';
import type { Cause } from '../../../platform/cause.ts';
import { openWorkflowRun } from '../../../platform/workflow-runs.ts';
import { type FundingSource, held } from '../ledger/account.rules.ts';
import { postNew } from '../ledger/ledger.service.ts';
import type { Scheme } from '../sepa/scheme.rules.ts';
import { holdingJournal, type NewBankTransfer, saveBankTransfers } from './bank-transfer.create.service.ts';
import { splitOf } from './transfer.queries.ts';
import type { BankLine, SplitRequest } from './transfer.request.service.ts';
import { insertSplit, insertTransfers, mustCover, transferChanges, walletJournals } from './transfer.service.ts';
import { transferSplitWorkflow, transferSplitWorkflowId } from './transfer-split.messages.ts';
import { splitChange } from './transfer-split.service.ts';

export type Payee = NewBankTransfer['payee'];

export type NewSplit = Omit<SplitRequest, 'bankLines'> & {
  readonly source: FundingSource;
  readonly payer: NewBankTransfer['payer'];
  readonly approvalRule: string | null;
  readonly bankLines: readonly (Omit<BankLine, 'payee' | 'scheme'> & {
    readonly payee: Payee;
    readonly scheme: Scheme;
  })[];
  /** For the audit rows. */
  readonly details: Record<string, unknown>;
};

/** The caller has locked the wallets and the beneficiaries. */
export async function createSplit(tx: Tx, cause: Cause, order: NewSplit): Promise<void> {
  const { source, splitId, ownerId, agentId, totalCents, details } = order;
  const transfers = order.bankLines.map((line) => bankTransferOf(order, line));
  await mustCover(tx, cause, source, order, [held(source)]);
  const posted = await postNew(tx, cause, [...walletJournals(source, order), ...transfers.map(holdingJournal)]);
  await insertSplit(tx, cause, source, { ...order, status: 'pending' });
  if (order.lines.length > 0) await insertTransfers(tx, cause, source, order);
  const created = await saveBankTransfers(tx, cause, transfers, details);
  const row = await splitOf(tx, ownerId, splitId);
  await recordChanges(tx, cause, [
    ...transferChanges(source, order, posted, details),
    ...created,
    splitChange('transfer.split.created', row, details),
  ]);
  await openWorkflowRun(tx, {
    id: transferSplitWorkflowId(splitId),
    workflow: transferSplitWorkflow,
    subjectId: splitId,
    ownerId,
    agentId,
    stage: 'checking',
    amountCents: totalCents,
    dueAt: cause.at,
    at: cause.at,
  });
}

function bankTransferOf(
  { ownerId, agentId, source, payer, approvalRule, splitId, intentId }: NewSplit,
  { splitLine, ...line }: NewSplit['bankLines'][number],
): NewBankTransfer {
  const remittance = line.reference === undefined ? '' : sepaTextOf(line.reference);
  return {
    ...{ ...line, ownerId, agentId, source, payer, approvalRule, intentId },
    remittance: remittance === '' ? null : remittance,
    split: { id: splitId, line: splitLine },
  };
}
