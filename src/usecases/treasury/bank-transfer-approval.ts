/**
 * The bank transfer as an approval subject: the content of its approver's page, and the effect of a decision.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import type { ApprovalCase, ApprovalSubject, Ending } from '../../domains/identity/approvals/approval-subject.ts';
import { bankTransferStatus, type PayeeCheckResult } from '../../domains/treasury/sepa/bank-transfer.rules.ts';
import { type BankTransfer, findBankTransfer } from '../../domains/treasury/transfers/bank-transfer.queries.ts';
import { failureInWords } from '../../domains/treasury/transfers/failure.rules.ts';
import { eurosFromCents } from '../../kernel/money.ts';
import { type ApproveBankTransfer, matterOf } from './approve-bank-transfer.ts';
import { decideBankTransfer, needsPasskey } from './decide-bank-transfer.ts';

type Deps = { readonly approve: ApproveBankTransfer };

export const bankTransferApproval = ({ approve }: Deps): ApprovalSubject => ({
  kind: 'transfer',
  idKind: 'transfer',
  find: async (tx, id) => {
    const row = await findBankTransfer(tx, id);
    return row === undefined ? null : caseOf(row, approve);
  },
});

const isExpired = (row: BankTransfer, at: Date): boolean =>
  row.stage === 'pending_approval' && row.expiresAt !== null && row.expiresAt <= at;

const caseOf = (row: BankTransfer, approve: ApproveBankTransfer): ApprovalCase => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  standing: (at) => {
    const isApproved = row.decidedBy !== null && row.status !== 'denied' && row.status !== 'cancelled';
    const expired = isExpired(row, at) || row.stage === 'expired';
    return {
      status: expired ? 'expired' : bankTransferStatus(row.stage),
      isWaiting: row.stage === 'pending_approval' && !expired,
      isApproved: isApproved && !expired,
      isDenied: row.status === 'denied',
      outcome: {
        at: expired ? (row.expiresAt ?? row.updatedAt) : (row.decidedAt ?? row.updatedAt),
        approvedBy: isApproved && !expired ? row.decidedBy : null,
        ...(expired ? endings.expired : isApproved ? approvedEnding(row) : (endings[row.status] ?? endings.approved)),
      },
    };
  },
  show: async (tx: Tx) => ({
    title: 'Approve a bank transfer',
    asks: 'asks to transfer',
    purpose: row.reference,
    amountEuros: eurosFromCents(row.amountCents),
    maxChargeEuros: null,
    cadence: null,
    lastChargeOn: null,
    facts: [
      payeeOf(row),
      { name: 'scheme', label: 'How', text: schemesInWords[row.scheme], isQuoted: false },
      ...(row.remittance === null
        ? []
        : [{ name: 'reference', label: 'On the statement', text: row.remittance, isQuoted: true }]),
    ],
    changes: [],
    rule: ruleOf(row),
    demandsPasskey: await needsPasskey(tx, row),
    denies: 'Deny the transfer',
    decideBy: (row.expiresAt ?? row.updatedAt).toISOString(),
  }),
  summary: async () => ({
    amountEuros: eurosFromCents(row.amountCents),
    ...{ maxChargeEuros: null, cadence: null, lastChargeOn: null },
    facts: [payeeOf(row)],
  }),
  matter: async (_tx, changes) => matterOf(row, changes),
  approve: async (envelope, changes, cause) => {
    matterOf(row, changes);
    await approve(row, envelope, cause);
  },
  deny: (tx, reason, cause) => decideBankTransfer(tx, { id: row.id }, { kind: 'deny', reason }, cause),
});

const payeeOf = ({ payeeName, payeeIbanMasked }: BankTransfer) => ({
  name: 'payee',
  label: 'To',
  text: `${payeeName}, ${payeeIbanMasked}`,
  isQuoted: false,
});

const schemesInWords = {
  instant: 'at once; it cannot be stopped afterwards',
  batch: 'on the next business day',
} as const;

const checks: Readonly<Record<PayeeCheckResult, string>> = {
  match: 'the account belongs to this name',
  close_match: 'the payee’s bank has a similar name for this account, not the same',
  no_match: 'the payee’s bank has another name for this account',
  not_possible: 'no bank could say whether the account belongs to this name',
};

function ruleOf({ payeeCheck, approvalRule }: BankTransfer): string {
  const check = checks[payeeCheck ?? 'not_possible'];
  return approvalRule === null ? check : `the policy asks for a person (${approvalRule}); ${check}`;
}

/** An approval stays one; what became of the transfer is said with it. */
function approvedEnding(row: BankTransfer): Ending {
  const why = failureInWords(row);
  return why === null ? endings.approved : { ...endings.approved, meaning: `The money did not stay there: ${why}.` };
}

const ending = (title: string, verb: string, meaning: string, tone: Ending['tone']): Ending => ({
  title,
  verb,
  meaning,
  tone,
});

const endings: Readonly<Record<string, Ending>> & { readonly expired: Ending; readonly approved: Ending } = {
  approved: ending('Approved', 'Approved', 'The bank gets the transfer.', 'good'),
  denied: ending('Denied', 'Denied', 'No money is sent.', 'bad'),
  cancelled: ending('Cancelled', 'Cancelled', 'The transfer was withdrawn. No money is sent.', 'calm'),
  expired: ending('Expired', 'Expired', 'The deadline passed without a decision. No money is sent.', 'calm'),
};
