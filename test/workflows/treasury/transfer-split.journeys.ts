/** The ways of a split to banks: completed in part after an approval by signal, cancelled. @module */
import type { TransferSplitRun } from '../../../activities/treasury/transfer-split.activities.ts';
import { transfersArea } from '../../../src/domains/treasury/transfers/transfer.contract.ts';
import { day, later } from '../../../src/kernel/instant.ts';
import { anIban } from '../../support/factories/beneficiaries.ts';
import { type Actors, someone } from '../../support/record/actors.ts';
import {
  assertShort,
  type Journey,
  type Played,
  type Stage,
  until,
  type WorkflowJourneys,
} from '../../support/record/stage.ts';

const ended = (journey: string, workflowId: string): Played[] => [{ workflow: 'transferSplit', journey, workflowId }];

/** Both lines wait for a person. `reference`: of the first. */
async function waiting(stage: Stage, { client }: Actors, reference: string) {
  const transfers = client(transfersArea);
  const to = (ending: string) => ({ name: `${someone}${ending}`, iban: anIban() });
  const { id } = await transfers.createTransferSplit({
    body: {
      splits: [
        { to: to(' CLOSE'), amountEuros: 10, reference },
        { to: to(' NOMATCH'), amountEuros: 15 },
      ],
    },
  });
  const [workflowId, params] = [`split/${id}`, { splitId: id }];
  const observe = (state: string) => stage.observe(`transferSplit: ${state}`, workflowId, { subject: id });
  const reaches = (status: string) =>
    until(
      () => transfers.getTransferSplit({ params }),
      (split) => split.status === status,
      `the split to be ${status}`,
    );
  await reaches('pending_approval');
  await observe('lines wait');
  return { transfers, workflowId, params, observe, reaches };
}

const completedInPart: Journey = async (stage, actors) => {
  const { workflowId, observe, reaches } = await waiting(stage, actors, 'FAIL');
  await stage.signal(workflowId, 'please');
  await stage.signal(workflowId, { decision: 'approve', by: 'anna' });
  await reaches('partially_completed');
  await observe('completed in part');
  await actors.clock.advanceSandboxClock({ body: { ms: 14 * day } });
  await observe('return windows over');
  return ended('completed-in-part', workflowId);
};

const cancelled: Journey = async (stage, actors) => {
  const { transfers, workflowId, params, observe } = await waiting(stage, actors, 'Rent');
  await transfers.cancelTransferSplit({ params, body: {} });
  await observe('cancelled');
  return ended('cancelled', workflowId);
};

const denied: Journey = async (stage, actors) => {
  const { workflowId, observe, reaches } = await waiting(stage, actors, 'Rent');
  await stage.signal(workflowId, { decision: 'deny', by: 'anna' });
  await reaches('denied');
  await observe('denied');
  return ended('denied-by-signal', workflowId);
};

/** As the activities answer with it. */
const transferSplit = (id: string): TransferSplitRun => ({
  ...{ version: 1, final: false, reached: ['payeesChecked'], dueInMs: {} },
  view: {
    ...{ splitId: id as TransferSplitRun['view']['splitId'], amountCents: 2_500, agentId: null },
    ...{ stage: 'pending_approval', lines: 2, walletLines: 0, waitingLines: 2, completedLines: 0, completedCents: 0 },
    openness: { approve: 'open', deny: 'open', cancel: 'open' },
    expiresAt: later(new Date(), 3 * day).toISOString(),
    ...{ returnWindowsEndAt: null, approvalUrl: null, needsPasskey: false },
  },
});

const split = '25.00 EUR in 2 lines, 2 of them to banks, for the owner.';

export const journeys: WorkflowJourneys = {
  workflows: {
    transferSplit: {
      queue: 'main',
      id: 'split/{subject}',
      summary: '{euros} EUR. Split {subject}: waits for its transfers to banks',
      hasAgent: false,
      decidedWhile: 'pending_approval',
      histories: ['completed-in-part', 'cancelled', 'denied-by-signal'],
      stages: {
        'lines wait': {
          stage: 'pending_approval',
          status: 'RUNNING',
          details: [
            `${split} Waiting for a person to approve 2 of its lines or to deny them, until {time} of business time, then they expire. 0.00 EUR of 0 lines have arrived.`,
            "The approver's page: {page}",
          ],
        },
        'completed in part': {
          stage: 'partially_completed',
          status: 'RUNNING',
          details: [
            `${split} partially_completed (15.00 EUR, 1 of 2 lines). Money of its lines can come back until {time} of business time.`,
            '- a signal that is not approve, deny or cancel was ignored',
          ],
        },
        'return windows over': {
          stage: 'partially_completed',
          status: 'COMPLETED',
          details: [
            `${split} Done: partially_completed (15.00 EUR, 1 of 2 lines).`,
            '- a signal that is not approve, deny or cancel was ignored',
          ],
        },
        cancelled: { stage: 'cancelled', status: 'COMPLETED', details: [`${split} Done: cancelled.`] },
        denied: { stage: 'denied', status: 'COMPLETED', details: [`${split} Done: denied.`] },
      },
    },
  },
  journeys: [completedInPart, cancelled, denied],
  waiting: (seen) => ({
    readTransferSplit: async (id) => transferSplit(seen(id)),
    decideTransferSplit: async (id, decision) => {
      assertShort(decision);
      return transferSplit(seen(id));
    },
  }),
};
