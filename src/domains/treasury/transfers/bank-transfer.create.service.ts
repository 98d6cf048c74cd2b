/**
 * Creates a transfer to a bank account in the caller's transaction: holds the money, saves the row, records the event,
 * opens the workflow run that sends it. Nothing is sent here.
 * @module
 */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { Cause } from '../../../platform/cause.ts';
import { recordTransition } from '../../../platform/transitions.ts';
import { openWorkflowRun } from '../../../platform/workflow-runs.ts';
import type { FundingSource } from '../ledger/account.rules.ts';
import { authorization } from '../ledger/ledger.rules.ts';
import { postNew } from '../ledger/ledger.service.ts';
import type { Scheme } from '../sepa/scheme.rules.ts';
import { bankTransferWorkflow, bankTransferWorkflowId } from './bank-transfer.messages.ts';
import { bankTransferOf } from './bank-transfer.queries.ts';
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
  readonly memo: string | undefined;
  readonly metadata: Record<string, unknown> | undefined;
  /** The rule that asks for a person. */
  readonly approvalRule: string | null;
};

export async function createBankTransfer(
  tx: Tx,
  cause: Cause,
  order: NewBankTransfer,
  details: Record<string, unknown> = {},
): Promise<void> {
  const { id, ownerId, agentId, source, amountCents } = order;
  await postNew(tx, cause, [
    {
      id: order.journalId,
      ownerId,
      agentId,
      kind: 'sepa_transfer',
      referenceType: 'transfer',
      referenceId: id,
      cause: `transfer:${id}:hold`,
      postings: authorization({ ownerId, from: source, amountCents }),
    },
  ]);
  await insert(tx, cause, order);
  await recordTransition(tx, 'transfer', id, { from: null, to: 'requested' }, cause);
  const change = transferChange('transfer.created', await bankTransferOf(tx, id));
  await recordChanges(tx, cause, [{ ...change, details: { ...change.details, ...details } }]);
  await openWorkflowRun(tx, {
    id: bankTransferWorkflowId(id),
    workflow: bankTransferWorkflow,
    subjectId: id,
    ownerId,
    agentId,
    stage: 'requested',
    amountCents,
    dueAt: cause.at,
    at: cause.at,
  });
}

async function insert(tx: Tx, cause: Cause, order: NewBankTransfer): Promise<void> {
  const { payer, payee, source } = order;
  await runSql(
    tx,
    `insert into transfers (id, owner_id, agent_id, type, from_wallet_id, beneficiary_id, amount_cents, reference, memo,
       metadata, status, stage, scheme, payer_wallet_id, payer_iban, payee_name, payee_iban_masked, remittance,
       approval_rule, journal_id, request_id, run_id, created_at, updated_at)
     values ($1, $2, $3, 'sepa', $4, $5, $6, $7, $8, $9::jsonb, 'pending', 'requested', $10, $11, $12, $13, $14, $15, $16,
       $17, $18, $19, $20, $20)`,
    [
      ...[order.id, order.ownerId, order.agentId, source.kind === 'wallet' ? source.id : null],
      ...[payee.beneficiaryId, order.amountCents, order.reference, order.memo, JSON.stringify(order.metadata ?? {})],
      ...[order.scheme, payer.walletId, payer.iban, payee.name, payee.ibanMasked, order.remittance],
      ...[order.approvalRule, order.journalId, cause.requestId, cause.runId ?? null, cause.at],
    ],
  );
}
