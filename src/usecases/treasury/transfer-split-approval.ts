/**
 * The split as an approval subject: one decision about all its lines that wait. What its approver's page shows, and the
 * effect of a decision.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import type { ApprovalCase, ApprovalSubject, Ending } from '../../domains/identity/approvals/approval-subject.ts';
import type { PayeeCheckResult } from '../../domains/treasury/sepa/bank-transfer.rules.ts';
import { findAnySplit, type SplitView, type TransferView } from '../../domains/treasury/transfers/transfer.queries.ts';
import {
  approvalEnds,
  isApproved,
  isMovedBy,
  isWithoutEffect,
} from '../../domains/treasury/transfers/transfer-split.rules.ts';
import { add, eurosFromCents, inWords } from '../../kernel/money.ts';
import { type ApproveTransferSplit, matterOfSplit } from './approve-transfer-split.ts';
import { needsPasskey } from './decide-bank-transfer.ts';
import { decideTransferSplit } from './decide-transfer-split.ts';

type Deps = { readonly approve: ApproveTransferSplit };

export const transferSplitApproval = ({ approve }: Deps): ApprovalSubject => ({
  kind: 'transfer_split',
  idKind: 'transferSplit',
  find: async (tx, id) => {
    const split = await findAnySplit(tx, id);
    return split === null ? null : caseOf(split, approve);
  },
});

const isAhead = (end: Date | null, at: Date): boolean => end === null || end > at;
const latest = (times: readonly Date[]): Date | undefined =>
  times.toSorted((one, other) => other.getTime() - one.getTime())[0];

const waitingLines = ({ transfers }: SplitView): TransferView[] => transfers.filter(isMovedBy.approve);

const caseOf = (split: SplitView, approve: ApproveTransferSplit): ApprovalCase => ({
  id: split.id,
  ownerId: split.ownerId,
  agentId: split.agentId,
  standing: (at) => {
    const { decision, status, transfers } = split;
    const isWaiting =
      status === 'pending_approval' && waitingLines(split).some(({ expiresAt }) => isAhead(expiresAt, at));
    const late =
      decision === null && !isWaiting
        ? transfers.filter((line) => isMovedBy.approve(line) || line.stage === 'expired')
        : [];
    const expired = late.length > 0;
    const approved = isApproved(decision, status);
    const ended = isWithoutEffect(status) ? status : decision;
    return {
      status: expired ? 'expired' : status,
      isWaiting,
      isApproved: approved,
      isDenied: decision === 'denied' || status === 'denied',
      outcome: {
        at: latest(late.flatMap(({ expiresAt }) => expiresAt ?? [])) ?? split.decidedAt ?? split.updatedAt,
        approvedBy: approved ? split.decidedBy : null,
        ...(expired ? endings.expired : endings[ended ?? 'undecided']),
      },
    };
  },
  show: async (tx: Tx) => ({
    title: 'Approve bank transfers',
    asks: 'asks to transfer',
    purpose: null,
    amountEuros: eurosFromCents(add(...waitingLines(split).map(({ amountCents }) => amountCents))),
    maxChargeEuros: null,
    cadence: null,
    lastChargeOn: null,
    facts: waitingLines(split).flatMap(factsOf),
    changes: [],
    rule:
      split.approvalRule === null
        ? 'for these payees no bank said that name and account match'
        : `the policy asks for a person (${split.approvalRule})`,
    demandsPasskey: await needsPasskey(tx, split),
    denies: 'Deny the transfers',
    decideBy: (approvalEnds(split.transfers) ?? split.updatedAt).toISOString(),
  }),
  // All lines: those that waited cannot be distinguished from the others any more.
  summary: async () => ({
    amountEuros: eurosFromCents(add(...split.transfers.map(({ amountCents }) => amountCents))),
    ...{ maxChargeEuros: null, cadence: null, lastChargeOn: null },
    facts: split.transfers.map((line) => ({
      ...nameOf(line),
      text: `${inWords(line.amountCents)} EUR to ${line.payeeName}`,
      isQuoted: false,
    })),
  }),
  matter: async (_tx, changes) => matterOfSplit(split, changes),
  approve: async (envelope, changes, cause) => {
    matterOfSplit(split, changes);
    await approve(split, envelope, cause);
  },
  deny: (tx, reason, cause) => decideTransferSplit(tx, { id: split.id }, { kind: 'deny', reason }, cause),
});

/** The numbers of the lines are those of the split, so that they can be decided one by one as well. */
function nameOf({ splitLine }: TransferView) {
  const number = (splitLine ?? 0) + 1;
  return { name: `line_${number}`, label: `Line ${number}` };
}

function factsOf(line: TransferView) {
  const number = (line.splitLine ?? 0) + 1;
  const how = line.scheme === 'instant' ? 'at once' : 'on the next business day';
  const text = `${inWords(line.amountCents)} EUR to ${line.payeeName}, ${line.payeeIbanMasked}, ${how}; ${checks[line.payeeCheck ?? 'not_possible']}`;
  return [
    { ...nameOf(line), text, isQuoted: false },
    ...(line.remittance === null
      ? []
      : [{ name: `reference_${number}`, label: 'On the statement', text: line.remittance, isQuoted: true }]),
  ];
}

const checks: Readonly<Record<PayeeCheckResult, string>> = {
  match: 'the account belongs to this name',
  close_match: 'the payee’s bank has a similar name',
  no_match: 'the payee’s bank has another name',
  not_possible: 'no bank could say whether the account belongs to this name',
};

const endings = {
  approved: { title: 'Approved', verb: 'Approved', meaning: 'The bank gets the transfers.', tone: 'good' },
  denied: { title: 'Denied', verb: 'Denied', meaning: 'No money of these transfers is sent.', tone: 'bad' },
  cancelled: { title: 'Cancelled', verb: 'Cancelled', meaning: 'No money of these transfers is sent.', tone: 'calm' },
  failed: { title: 'Failed', verb: 'Ended', meaning: 'None of these transfers reached its payee.', tone: 'bad' },
  returned: { title: 'Returned', verb: 'Ended', meaning: 'The money of these transfers came back.', tone: 'bad' },
  undecided: { title: 'Nothing waits', verb: 'Ended', meaning: 'No transfer of it waits for a person.', tone: 'calm' },
  expired: {
    ...{ title: 'Expired', verb: 'Expired', tone: 'calm' },
    meaning: 'The deadline passed without a decision. The transfers that waited are not sent.',
  },
} as const satisfies Record<string, Ending>;
