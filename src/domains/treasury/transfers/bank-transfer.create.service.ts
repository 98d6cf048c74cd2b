/**
 * Creates transfers to bank accounts in the caller's transaction: holds the money, saves the rows, opens the workflow runs
 * that send them, each kind in one statement. Nothing is sent here.
 * @module
 */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChanges } from '../../../events/record.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { Cause } from '../../../platform/cause.ts';
import { recordTransitions } from '../../../platform/transitions.ts';
import { openWorkflowRuns } from '../../../platform/workflow-runs.ts';
import type { FundingSource } from '../ledger/account.rules.ts';
import { authorization } from '../ledger/ledger.rules.ts';
import { type JournalDraft, postNew } from '../ledger/ledger.service.ts';
import type { Scheme } from '../sepa/scheme.rules.ts';
import { bankTransferWorkflow, bankTransferWorkflowId } from './bank-transfer.messages.ts';
import { bankTransfers } from './bank-transfer.queries.ts';
import { transferChange } from './bank-transfer.service.ts';

export type NewBankTransfer = {
  readonly id: Id<'transfer'>;
  readonly journalId: Id<'journal'>;
  readonly ownerId: Id<'owner'>;
  readonly agentId: Id<'agent'> | null;
  readonly source: FundingSource;
  /** The wallet whose account the bank debits. */
  readonly payer: { readonly walletId: Id<'wallet'>; readonly iban: string };
  /** `name` in the character set of SEPA. */
  readonly payee: { readonly beneficiaryId: Id<'beneficiary'>; readonly name: string; readonly ibanMasked: string };
  readonly amountCents: Cents;
  readonly scheme: Scheme;
  readonly reference: string | undefined;
  /** The reference in the character set of SEPA. */
  readonly remittance: string | null;
  readonly memo?: string | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  /** The rule that asks for a person. */
  readonly approvalRule: string | null;
  /** What the agent declared, and this pays for. */
  readonly intentId?: Id<'intent'> | undefined;
  /** The split that it is a line of. */
  readonly split?: { readonly id: Id<'transferSplit'>; readonly line: number };
};

export async function createBankTransfer(
  tx: Tx,
  cause: Cause,
  order: NewBankTransfer,
  details: Record<string, unknown> = {},
): Promise<void> {
  await postNew(tx, cause, [holdingJournal(order)]);
  await recordChanges(tx, cause, await saveBankTransfers(tx, cause, [order], details));
}

export const holdingJournal = ({ id, journalId, ownerId, agentId, source, amountCents }: NewBankTransfer) =>
  ({
    id: journalId,
    ownerId,
    agentId,
    kind: 'sepa_transfer',
    referenceType: 'transfer',
    referenceId: id,
    cause: `transfer:${id}:hold`,
    postings: authorization({ ownerId, from: source, amountCents }),
  }) satisfies JournalDraft;

/** The journals are the caller's. Answers with the changes to record; `details` are for their audit rows. */
export async function saveBankTransfers(
  tx: Tx,
  cause: Cause,
  orders: readonly NewBankTransfer[],
  details: Record<string, unknown> = {},
): Promise<Change[]> {
  const ids = orders.map(({ id }) => id);
  await insert(tx, cause, orders);
  await recordTransitions(tx, 'transfer', ids, { from: null, to: 'requested' }, cause);
  await openWorkflowRuns(
    tx,
    orders.map(({ id, ownerId, agentId, amountCents }) => ({
      id: bankTransferWorkflowId(id),
      workflow: bankTransferWorkflow,
      subjectId: id,
      ownerId,
      agentId,
      stage: 'requested',
      amountCents,
      dueAt: cause.at,
      at: cause.at,
    })),
  );
  const rows = await bankTransfers(tx, ids);
  return rows.map((row): Change => {
    const change = transferChange('transfer.created', row);
    return { ...change, details: { ...change.details, ...details } };
  });
}

async function insert(tx: Tx, cause: Cause, orders: readonly NewBankTransfer[]): Promise<void> {
  const rows = orders.map(({ source, payer, payee, split, metadata, ...order }) => ({
    ...order,
    fromWalletId: source.kind === 'wallet' ? source.id : null,
    beneficiaryId: payee.beneficiaryId,
    metadata: metadata ?? {},
    payerWalletId: payer.walletId,
    payerIban: payer.iban,
    payeeName: payee.name,
    payeeIbanMasked: payee.ibanMasked,
    splitId: split?.id ?? null,
    splitLine: split?.line ?? null,
  }));
  await runSql(
    tx,
    `insert into transfers (id, owner_id, agent_id, type, from_wallet_id, beneficiary_id, amount_cents, reference, memo,
       metadata, status, stage, scheme, payer_wallet_id, payer_iban, payee_name, payee_iban_masked, remittance,
       approval_rule, split_id, split_line, intent_id, journal_id, request_id, run_id, created_at, updated_at)
     select n.id, n."ownerId", n."agentId", 'sepa', n."fromWalletId", n."beneficiaryId", n."amountCents", n.reference,
       n.memo, n.metadata, 'pending', 'requested', n.scheme, n."payerWalletId", n."payerIban", n."payeeName",
       n."payeeIbanMasked", n.remittance, n."approvalRule", n."splitId", n."splitLine", n."intentId", n."journalId", $2, $3, $4, $4
     from jsonb_to_recordset($1::jsonb) as n (id text, "ownerId" text, "agentId" text, "fromWalletId" text,
       "beneficiaryId" text, "amountCents" bigint, reference text, memo text, metadata jsonb, scheme text,
       "payerWalletId" text, "payerIban" text, "payeeName" text, "payeeIbanMasked" text, remittance text,
       "approvalRule" text, "splitId" text, "splitLine" smallint, "intentId" text,
       "journalId" text)`,
    [JSON.stringify(rows), cause.requestId, cause.runId ?? null, cause.at],
  );
}
