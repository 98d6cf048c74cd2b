/**
 * One split with lines to banks: its payees are checked, a person decides about the lines that need one, all lines end,
 * and their money can come back for days. Each line is sent by a run of its own, `transfer/{id}`; this run waits for them.
 * @module
 */
import type { TransferSplitActivities } from '../../activities/treasury/transfer-split.activities.ts';
import type { SplitRunView } from '../../src/domains/treasury/transfers/transfer-split.messages.ts';
import { type SplitFact, whyNot } from '../../src/domains/treasury/transfers/transfer-split.rules.ts';
import { inWords } from '../../src/kernel/money.ts';
import { type FollowedRun, followRow, type RunInput } from '../lib/follow-row.ts';
import { refusal } from '../lib/refusals.ts';
import { databaseSteps } from '../lib/steps.ts';

const { readTransferSplit, decideTransferSplit } = databaseSteps<TransferSplitActivities>()({
  readTransferSplit: 'Reading the split and its lines',
  decideTransferSplit: 'Carrying out the decision about its lines',
});

const transferSplitRun: FollowedRun<SplitRunView, SplitFact> = {
  refresh: readTransferSplit,
  stage: ({ stage }) => stage,
  describe: ({ amountCents, agentId, lines, walletLines }) =>
    `${inWords(amountCents)} EUR in ${lines} lines, ${lines - walletLines} of them to banks, for ${agentId === null ? 'the owner' : `agent ${agentId}`}`,
  waitingFor: {
    payeesChecked: 'Waiting for the checks of all payees. Lines whose payee matches go on meanwhile.',
    decided: waitingForDecision,
    settled: (view) => `Waiting for the bank to settle its lines. ${arrivedInWords(view)}`,
    returnWindowsOver: (view) =>
      `${outcomeInWords(view)}. Money of its lines can come back until ${view.returnWindowsEndAt} of business time.`,
  },
  outcome: outcomeInWords,
  decide: {
    carryOut: decideTransferSplit,
    refuse: ({ stage, openness }, { decision }) => {
      // Other runs move the lines, so what this one read may be old. Once all payees are checked, no line begins to wait.
      if (stage !== 'checking' && openness[decision] === 'refused') {
        throw refusal('invalid_state', whyNot(stage, decision));
      }
    },
  },
};

export const transferSplit = (input: RunInput): Promise<SplitRunView> =>
  followRow(transferSplitRun, input, async ({ wait }) => {
    await wait('payeesChecked');
    await wait('decided');
    await wait('settled');
    await wait('returnWindowsOver');
  });

function waitingForDecision(view: SplitRunView): string {
  const { waitingLines, needsPasskey, approvalUrl, expiresAt } = view;
  const how = needsPasskey ? ' with a passkey (a signal cannot approve them)' : '';
  const page = approvalUrl === null ? '' : `\nThe approver's page: ${approvalUrl}`;
  return `Waiting for a person to approve ${waitingLines} of its lines${how} or to deny them, until ${expiresAt} of business time, then they expire. ${arrivedInWords(view)}${page}`;
}

const arrivedInWords = ({ completedCents, completedLines }: SplitRunView): string =>
  `${inWords(completedCents)} EUR of ${completedLines} lines have arrived.`;

/** A split that is completed in part says how much of it. */
function outcomeInWords({ stage, completedCents, completedLines, lines }: SplitRunView): string {
  return stage === 'partially_completed'
    ? `partially_completed (${inWords(completedCents)} EUR, ${completedLines} of ${lines} lines)`
    : stage;
}
