/**
 * One transfer to a bank account: the payee is checked, a person approves where one has to, the bank gets the payment
 * once, accepts and settles it. A return can follow for days. A rejected, denied, expired or cancelled transfer ends at
 * any line, and its money is released with the row.
 * @module
 */
import type { BankTransferActivities } from '../../activities/treasury/bank-transfer.activities.ts';
import { isFinalStage, moveTransfer } from '../../src/domains/treasury/sepa/bank-transfer.rules.ts';
import type { BankTransferRunView } from '../../src/domains/treasury/transfers/bank-transfer.messages.ts';
import type {
  BankTransferDue,
  BankTransferFact,
} from '../../src/domains/treasury/transfers/bank-transfer.run.rules.ts';
import { inWords } from '../../src/kernel/money.ts';
import { type FollowedRun, followRow, type RunInput } from '../lib/follow-row.ts';
import { refusal } from '../lib/refusals.ts';
import { databaseSteps, onceSteps, outboundSteps } from '../lib/steps.ts';

const { readBankTransfer, decideBankTransfer, expireBankTransfer, closeReturnWindow } =
  databaseSteps<BankTransferActivities>()({
    readBankTransfer: 'Reading the transfer',
    decideBankTransfer: 'Carrying out the decision',
    expireBankTransfer: 'Ending the transfer, because it was not approved in time',
    closeReturnWindow: 'Noting that no return in time can come any more',
  });
const { checkTransferPayee, markTransferSending, askBank, remindOfTransfer, recallTransfer } =
  outboundSteps<BankTransferActivities>()({
    checkTransferPayee: 'Screening the payee, and asking its bank whether name and account match',
    markTransferSending: 'Screening the payee again, and giving the payment to the bank, once',
    askBank: 'Asking the bank what became of the payment',
    remindOfTransfer: 'Asking the bank, and reminding the owner that no answer has come',
    recallTransfer: 'Asking the bank to get the money back',
  });
const { submitTransfer } = onceSteps<BankTransferActivities>()({
  submitTransfer: 'Giving the payment to the bank, after a mark of an earlier version',
});

const bankTransferRun: FollowedRun<BankTransferRunView, BankTransferFact, BankTransferDue> = {
  refresh: readBankTransfer,
  // The states before the bank has the payment last for milliseconds, and the server writes each stage.
  stage: ({ stage }) => (stage === 'approved' || stage === 'sending' ? 'requested' : stage),
  describe: ({ amountCents, agentId, scheme }) =>
    `${inWords(amountCents)} EUR to a bank account (${scheme}), for ${agentId === null ? 'the owner' : `agent ${agentId}`}`,
  waitingFor: {
    payeeChecked: 'Screening the payee, and asking its bank whether name and account match. Nothing is sent.',
    approved: waitingForDecision,
    submitted: waitingForBank,
    settled: waitingForBank,
    returnWindowOver: ({ returnWindowEndsAt, recallOutcome }) =>
      `The payee's bank has the money. It can come back until ${returnWindowEndsAt} of business time.${recallInWords(recallOutcome)}`,
  },
  outcome: ({ stage, failureReason }) =>
    failureReason === null || failureReason === stage ? stage : `${stage} (${failureReason})`,
  decide: {
    carryOut: decideBankTransfer,
    refuse: ({ stage }, { decision }) => {
      const move = moveTransfer(stage, decision, false);
      // The row decides: what the bank may have is recalled by the same decision, and of two approvals at once the
      // second one finds the first.
      const isForRow = decision === 'cancel' || (decision === 'approve' && !isFinalStage(stage));
      if (move.outcome === 'refused' && !isForRow) throw refusal('invalid_state', move.why);
    },
  },
};

export const bankTransfer = (input: RunInput): Promise<BankTransferRunView> =>
  followRow(bankTransferRun, input, async ({ step, once, wait }) => {
    await step('payeeChecked', checkTransferPayee);
    await wait('approved', { approval: expireBankTransfer });
    // One attempt marks and sends. `send` is for runs that an earlier version marked.
    await once('submitted', {
      mark: markTransferSending,
      send: submitTransfer,
      whenDue: { askAgain: askBank, reminder: remindOfTransfer, recall: recallTransfer },
    });
    await wait('settled', { askAgain: askBank, reminder: remindOfTransfer, recall: recallTransfer });
    await wait('returnWindowOver', { returnWindow: closeReturnWindow, recall: recallTransfer });
  });

function waitingForDecision({
  expiresAt,
  payeeCheck,
  approvalRule,
  needsPasskey,
  approvalUrl,
}: BankTransferRunView): string {
  const how = needsPasskey ? ' with a passkey (a signal cannot approve it)' : '';
  const why =
    approvalRule === null ? `the payee check says ${payeeCheck}` : `the policy asks for a person (${approvalRule})`;
  const page = approvalUrl === null ? '' : `\nThe approver's page: ${approvalUrl}`;
  return `Waiting for a person to approve it${how} or to deny it, because ${why}, until ${expiresAt} of business time, then it expires.${page}`;
}

function waitingForBank({ stage, reminders, recallOutcome }: BankTransferRunView): string {
  const state =
    stage === 'sending' || stage === 'approved'
      ? 'The bank may have the payment'
      : `The bank has the payment (${stage})`;
  const reminded = reminders === 0 ? '' : ` The owner was reminded (${reminders}).`;
  return `${state}. Waiting for its answer. The payment is never sent again.${reminded}${recallInWords(recallOutcome)}`;
}

function recallInWords(recall: BankTransferRunView['recallOutcome']): string {
  return recall === null ? '' : ` A recall is ${recall === 'asking' ? 'to be requested' : recall}.`;
}
