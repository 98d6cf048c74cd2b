/**
 * The steps of a bank transfer that its workflow runs: check the payee, mark and give the payment to the bank once, ask
 * what became of it, remind, recall, and close the return window. Each is safe to repeat; only the attempt that marked
 * the transfer may send it, and only in time.
 * @module
 */
import { type Given, query } from '../../db/db.ts';
import type { Tx } from '../../db/tx.ts';
import type { ApprovalLinks } from '../../domains/identity/approvals/approval-link.service.ts';
import { policyOfAgent } from '../../domains/spending/policies/policy.queries.ts';
import { payRefusal } from '../../domains/treasury/beneficiaries/beneficiary.rules.ts';
import { ibanContext } from '../../domains/treasury/beneficiaries/beneficiary.wire.ts';
import type { BankPayment, BankRail, HeardMessage } from '../../domains/treasury/sepa/bank-rail.port.ts';
import {
  afterPayeeCheck,
  type BankTransferCommand,
  isNotKnownFinal,
  maySend,
  moveTransfer,
  type PayeeCheckResult,
  sendWithinMs,
} from '../../domains/treasury/sepa/bank-transfer.rules.ts';
import { batchDays, inBerlin } from '../../domains/treasury/sepa/banking-day.rules.ts';
import { endToEndIdOf } from '../../domains/treasury/sepa/end-to-end-id.rules.ts';
import {
  type BankTransfer,
  bankTransferOf,
  lockBankTransfer,
} from '../../domains/treasury/transfers/bank-transfer.queries.ts';
import { approvalEndsAt } from '../../domains/treasury/transfers/bank-transfer.run.rules.ts';
import { inStage, saveFigures, transferChange } from '../../domains/treasury/transfers/bank-transfer.service.ts';
import { updateSplits } from '../../domains/treasury/transfers/transfer-split.service.ts';
import { recordChanges } from '../../events/record.ts';
import { assert } from '../../kernel/assert.ts';
import { newId } from '../../kernel/ids.ts';
import { later } from '../../kernel/instant.ts';
import { longestSepaName, sepaTextOf } from '../../kernel/sepa-text.ts';
import { type Actor, type Cause, causedBy } from '../../platform/cause.ts';
import type { Clock } from '../../platform/clock.ts';
import { type CheckPayeeDeps, checkPayee } from './check-payee.ts';
import { payeeForShare } from './decide-bank-transfer.ts';
import { hearBankMessages } from './hear-bank-messages.ts';
import { type ScreenBeneficiaryDeps, screenBeneficiary } from './screen-beneficiary.ts';
import { moveTransfers } from './transfer-intents.ts';

export type TransferStepDeps = CheckPayeeDeps &
  ScreenBeneficiaryDeps & {
    readonly clock: Clock;
    readonly rail: BankRail;
    readonly links: Pick<ApprovalLinks, 'open'>;
  };

/** `at` is business time. */
const causeAt = (row: BankTransfer, step: string, at: Date, actor: Actor = { kind: 'system' }): Cause => ({
  causeId: `transfer:${row.id}:${step}`,
  requestId: row.requestId,
  runId: row.runId ?? undefined,
  actor,
  at,
});

const ownStep = { isOwnStep: true } as const;

/** Screens the payee, then asks its bank. A match needs no person; a rule of the agent's policy may. */
export const checkTransferPayee =
  (deps: TransferStepDeps) =>
  async (id: string): Promise<BankTransfer> => {
    const { database, clock } = deps;
    const found = await bankTransferOf(database.read(), id);
    if (found.stage !== 'requested') return found;
    const cause = causeAt(found, 'payee-check', await clock.now());
    const screening = await screenBeneficiary(deps)(found.beneficiaryId, cause);
    const result = screening === 'hit' ? null : await checkPayee(deps)(found.beneficiaryId, cause);
    return database.write(async (tx) => {
      const row = await lockBankTransfer(tx, id);
      if (row.stage !== 'requested') return row;
      const why = await whyUnpayable(tx, row);
      if (why !== undefined || result === null) return refusePayee(tx, row, cause);
      return applyCheck(tx, deps.links, row, result, cause);
    });
  };

async function applyCheck(
  tx: Tx,
  links: Pick<ApprovalLinks, 'open'>,
  row: BankTransfer,
  payeeCheck: PayeeCheckResult,
  cause: Cause,
): Promise<BankTransfer> {
  const policy = row.agentId === null ? null : await policyOfAgent(tx, row.agentId);
  const checked = afterPayeeCheck(payeeCheck, policy?.payeeMismatch);
  if (checked === 'refusePayee') {
    return moved(tx, row, checked, cause, { payeeCheck, failureReason: `payee_check:${payeeCheck}` });
  }
  const command = row.approvalRule === null ? checked : 'requestApproval';
  const waits = command === 'requestApproval';
  if (waits) await links.open(tx, row.id, cause.at);
  return moved(tx, row, command, cause, { payeeCheck, ...(waits && { expiresAt: approvalEndsAt(cause.at) }) });
}

async function whyUnpayable(tx: Tx, row: BankTransfer): Promise<string | undefined> {
  const payee = await payeeForShare.first(tx, { id: row.beneficiaryId });
  if (payee === null || sepaTextOf(payee.name) !== row.payeeName) return 'is not the one that was asked for';
  return payRefusal(payee, row.agentId === null ? 'owner' : 'agent');
}

const refusePayee = (tx: Tx, row: BankTransfer, cause: Cause): Promise<BankTransfer> =>
  moved(tx, row, 'refusePayee', cause, { failureReason: 'payee_refused' });

/** Where the rules let the command move the row; otherwise the row as it is. */
async function moved(
  tx: Tx,
  row: BankTransfer,
  command: BankTransferCommand,
  cause: Cause,
  change: Partial<BankTransfer>,
): Promise<BankTransfer> {
  const move = moveTransfer(row.stage, command, false);
  if (move.outcome !== 'moved') return row;
  const after = inStage(row, move.next, cause.at, change);
  await moveTransfers(tx, [{ before: row, after, cause }], ownStep);
  return after;
}

/**
 * Screens once more, commits that this attempt may send, and gives the payment to the bank at once: nothing but the
 * request is left to do after the mark, so that a busy worker does not let the deadline pass. Another attempt, also of the
 * same run, finds the mark of this one and sends nothing. Without an answer the bank may have the payment.
 */
export const sendPayment =
  (deps: TransferStepDeps) =>
  async (id: string, runCause: string): Promise<BankTransfer> => {
    const { database, clock, rail } = deps;
    const found = await bankTransferOf(database.read(), id);
    if (found.stage !== 'approved') return found;
    const cause = causeAt(found, 'send', await clock.now());
    await screenBeneficiary(deps)(found.beneficiaryId, cause);
    const payment = await paymentOf(deps, found);
    const sendingCause = `${runCause}/${newId('request')}`;
    const row = await database.write(async (tx) => {
      const locked = await lockBankTransfer(tx, id);
      if (locked.stage !== 'approved') return locked;
      if (payment === undefined || (await whyUnpayable(tx, locked)) !== undefined)
        return refusePayee(tx, locked, cause);
      const real = new Date();
      const marks = {
        sendingCause,
        sentAt: real,
        sendUntil: later(real, sendWithinMs),
        ...daysOf(locked, cause.at, rail),
      };
      return moved(tx, locked, 'beginSending', cause, marks);
    });
    return giveToBank(deps, row, sendingCause, payment);
  };

function daysOf({ scheme }: BankTransfer, at: Date, { cutOff }: Pick<BankRail, 'cutOff'>) {
  if (scheme === 'batch') {
    const { executionDate, settlementDate } = batchDays(at, cutOff);
    return { executionDate, settlementDate };
  }
  const today = inBerlin(at).date;
  return { executionDate: today, settlementDate: today };
}

/** Of a run that an earlier version marked, and whose payment it did not send in the same attempt. */
export const submitMarked =
  (deps: TransferStepDeps) =>
  async (id: string, sendingCause: string): Promise<BankTransfer> => {
    const row = await bankTransferOf(deps.database.read(), id);
    if (!maySend(row, sendingCause, new Date())) return row;
    return giveToBank(deps, row, sendingCause, await paymentOf(deps, row));
  };

/** One request, by the attempt that marked the transfer and in time. */
async function giveToBank(
  deps: TransferStepDeps,
  row: BankTransfer,
  sendingCause: string,
  payment: Omit<BankPayment, 'executionDate'> | undefined,
): Promise<BankTransfer> {
  const { executionDate } = row;
  if (!maySend(row, sendingCause, new Date()) || payment === undefined) return row;
  assert(executionDate !== null, 'a transfer that was marked has its day');
  const answer = await deps.rail.send({ ...payment, executionDate });
  if (answer.outcome === 'unknown') return row;
  return answer.outcome === 'taken'
    ? heard(deps, row, answer.status, null)
    : heard(deps, row, 'rejected', answer.reasonCode);
}

const holderOf = query((from, given: Given<{ ownerId: string }>) =>
  from.selectFrom('customers').select(['companyName', 'firstName', 'lastName']).where('ownerId', '=', given('ownerId')),
);

/** Undefined where the payee has no account any more. */
async function paymentOf(
  { database, vault }: TransferStepDeps,
  row: BankTransfer,
): Promise<Omit<BankPayment, 'executionDate'> | undefined> {
  const tx = database.read();
  const payee = await payeeForShare.first(tx, { id: row.beneficiaryId });
  if (payee?.sealedIban == null) return undefined;
  const holder = await holderOf.first(tx, { ownerId: row.ownerId });
  const name = holder?.companyName ?? [holder?.firstName, holder?.lastName].filter((part) => part != null).join(' ');
  return {
    endToEndId: endToEndIdOf(row.id),
    scheme: row.scheme,
    amountCents: row.amountCents,
    payer: { name: sepaTextOf(name).slice(0, longestSepaName) || unnamedPayer, iban: row.payerIban, bic: null },
    payee: { name: row.payeeName, iban: await vault.open(payee.sealedIban, ibanContext(row.beneficiaryId)) },
    remittance: row.remittance,
  };
}

/** A customer who has not given a name yet. */
const unnamedPayer = 'Bursar customer';

/** What the bank answered to a question: the same answer again is the same message. */
async function heard(
  { database, clock }: TransferStepDeps,
  row: BankTransfer,
  kind: HeardMessage['kind'],
  reasonCode: string | null,
): Promise<BankTransfer> {
  const at = await clock.now();
  return database.write(async (tx) => {
    const message = { endToEndId: endToEndIdOf(row.id), kind, reasonCode, amountCents: null, accountIban: null };
    await hearBankMessages(tx, [{ ...message, cause: `answer:${kind}` }], causeAt(row, 'answer', at), ownStep);
    return bankTransferOf(tx, row.id);
  });
}

/** That the bank does not know the payment counts only when no request can be on its way any more. */
export const askBank =
  (deps: TransferStepDeps) =>
  async (id: string): Promise<BankTransfer> => {
    const { database, clock, rail } = deps;
    const row = await bankTransferOf(database.read(), id);
    const asked = new Date();
    const answer = await rail.ask(endToEndIdOf(row.id));
    await noteAsked(deps, id, asked);
    if (answer.outcome === 'known') return heard(deps, row, answer.status, null);
    if (answer.outcome === 'rejected') return heard(deps, row, 'rejected', answer.reasonCode);
    if (answer.outcome === 'no_answer' || !isNotKnownFinal(row, asked)) return bankTransferOf(database.read(), id);
    const cause = causeAt(row, 'not-received', await clock.now());
    return database.write(async (tx) =>
      moved(tx, await lockBankTransfer(tx, id), 'noteNotReceived', cause, { failureReason: 'not_received' }),
    );
  };

const noteAsked = ({ database, clock }: TransferStepDeps, id: string, askedAt: Date): Promise<void> =>
  database.write(async (tx) => {
    const row = await lockBankTransfer(tx, id);
    await saveFigures(tx, { ...row, askedAt, asks: Math.min(row.asks + 1, 1_000), updatedAt: await clock.now() });
  });

/** After one business day without an answer, and after three: asks the bank, and tells the owner's subscribers. */
export const remindOfTransfer =
  (deps: TransferStepDeps) =>
  async (id: string): Promise<BankTransfer> => {
    const { database, clock } = deps;
    const { reminders, stage } = await askBank(deps)(id);
    const at = await clock.now();
    return database.write(async (tx) => {
      const row = await lockBankTransfer(tx, id);
      if (row.reminders !== reminders || row.stage !== stage) return row;
      const after = { ...row, reminders: reminders + 1, updatedAt: at };
      await saveFigures(tx, after);
      const cause = causedBy(causeAt(row, `reminder-${reminders + 1}`, at, { kind: 'deadline' }), row);
      await recordChanges(tx, cause, [transferChange('transfer.reminded', after)]);
      return after;
    });
  };

/** Asks the bank to get the money back. What it gives back arrives as a message. */
export const recallTransfer =
  (deps: TransferStepDeps) =>
  async (id: string): Promise<BankTransfer> => {
    const { database, clock, rail } = deps;
    const row = await bankTransferOf(database.read(), id);
    if (row.recallOutcome !== 'asking') return row;
    const answer = await rail.recall(endToEndIdOf(row.id), 'CUST');
    if (answer.outcome === 'no_answer') return row;
    const at = await clock.now();
    return database.write(async (tx) => {
      const locked = await lockBankTransfer(tx, id);
      if (locked.recallOutcome !== 'asking') return locked;
      const after = { ...locked, recallOutcome: answer.outcome, updatedAt: at };
      await saveFigures(tx, after);
      await recordChanges(tx, causeAt(row, 'recall', at), [transferChange('transfer.updated', after)]);
      return after;
    });
  };

/** From here on nothing is waited for; a late return is still booked. */
export const closeReturnWindow =
  ({ database, clock }: TransferStepDeps) =>
  async (id: string): Promise<BankTransfer> => {
    const at = await clock.now();
    return database.write(async (tx) => {
      const row = await lockBankTransfer(tx, id);
      const isOver = row.returnWindowEndsAt !== null && row.returnWindowEndsAt <= at;
      if (row.stage !== 'settled' || row.closedAt !== null || !isOver) return row;
      const recallOutcome = row.recallOutcome === 'asking' ? 'ended' : row.recallOutcome;
      const after: BankTransfer = { ...row, recallOutcome, closedAt: at, updatedAt: at };
      await saveFigures(tx, after);
      if (row.splitId !== null) await updateSplits(tx, new Map([[row.splitId, causeAt(row, 'close', at)]]));
      return after;
    });
  };
