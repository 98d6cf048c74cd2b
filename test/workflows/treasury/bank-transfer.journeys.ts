/** The ways of a bank transfer: settled, approved and then rejected by the bank, denied by a signal, cancelled, expired. @module */
import type { BankTransferRun } from '../../../activities/treasury/bank-transfer.activities.ts';
import { bankTransferFacts } from '../../../src/domains/treasury/transfers/bank-transfer.run.rules.ts';
import { transfersArea } from '../../../src/domains/treasury/transfers/transfer.contract.ts';
import { day, hour, later, minute } from '../../../src/kernel/instant.ts';
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

const ended = (journey: string, workflowId: string): Played[] => [{ workflow: 'bankTransfer', journey, workflowId }];

async function paid(stage: Stage, { client }: Actors, ending: string, reference?: string) {
  const transfers = client(transfersArea);
  const { id } = await transfers.createTransfer({
    body: { to: { name: `${someone}${ending}`, iban: anIban() }, amountEuros: 10, ...(reference && { reference }) },
  });
  const [workflowId, params] = [`transfer/${id}`, { id }];
  const observe = (state: string) => stage.observe(`bankTransfer: ${state}`, workflowId, { subject: id });
  const reaches = (status: string) =>
    until(
      () => transfers.getTransfer({ params }),
      (transfer) => transfer.status === status,
      `the transfer to be ${status}`,
    );
  return { transfers, workflowId, params, observe, reaches };
}

async function waiting(stage: Stage, actors: Actors, reference?: string) {
  const one = await paid(stage, actors, ' CLOSE', reference);
  await one.reaches('pending_approval');
  await one.observe('near match');
  return one;
}

const settled: Journey = async (stage, actors) => {
  const { workflowId, observe, reaches } = await paid(stage, actors, '');
  await reaches('completed');
  await observe('settled');
  await actors.clock.advanceSandboxClock({ body: { ms: 14 * day } });
  await observe('return window over');
  return ended('settled', workflowId);
};

const approvedThenRejected: Journey = async (stage, actors) => {
  const { transfers, workflowId, params, observe, reaches } = await waiting(stage, actors, 'FAIL');
  await transfers.approveTransfer({ params, body: {} });
  await reaches('failed');
  await observe('rejected');
  return ended('approved-then-rejected', workflowId);
};

const deniedBySignal: Journey = async (stage, actors) => {
  const { workflowId, observe, reaches } = await waiting(stage, actors);
  await stage.signal(workflowId, 'please');
  await stage.signal(workflowId, { decision: 'deny', by: 'anna' });
  await reaches('denied');
  await observe('denied');
  return ended('denied-by-signal', workflowId);
};

const cancelled: Journey = async (stage, actors) => {
  const { transfers, workflowId, params, observe } = await waiting(stage, actors);
  await transfers.cancelTransfer({ params, body: {} });
  await observe('cancelled');
  return ended('cancelled', workflowId);
};

const expired: Journey = async (stage, actors) => {
  const { workflowId, observe, reaches } = await waiting(stage, actors);
  await actors.clock.advanceSandboxClock({ body: { ms: 72 * hour + minute } });
  await reaches('failed');
  await observe('expired');
  return ended('expired', workflowId);
};

/** As the activities answer with it. */
function bankTransfer(id: string): BankTransferRun {
  const now = new Date();
  const expiresAt = later(now, 3 * day);
  const facts = bankTransferFacts(
    {
      ...{ stage: 'pending_approval', scheme: 'instant', expiresAt, sentAt: null, askedAt: null, asks: 0 },
      ...{ settlementDate: null, reminders: 0, recallOutcome: null, returnWindowEndsAt: null, closedAt: null },
    },
    { business: now, real: now },
  );
  return {
    version: 1,
    ...facts,
    view: {
      ...{ transferId: id as BankTransferRun['view']['transferId'], amountCents: 1_000, agentId: null },
      ...{ scheme: 'instant', stage: 'pending_approval', payeeCheck: 'close_match', approvalRule: null },
      ...{ failureReason: null, recallOutcome: null, reminders: 0, expiresAt: expiresAt.toISOString() },
      ...{ returnWindowEndsAt: null, approvalUrl: null, needsPasskey: false },
    },
  };
}

const transfer = '10.00 EUR to a bank account (instant), for the owner.';

export const journeys: WorkflowJourneys = {
  workflows: {
    bankTransfer: {
      queue: 'main',
      id: 'transfer/{subject}',
      summary: '{euros} EUR. Transfer {subject}: to a bank account, checked, approved where needed, sent once',
      hasAgent: false,
      decidedWhile: 'pending_approval',
      histories: ['settled', 'approved-then-rejected', 'denied-by-signal', 'cancelled', 'expired'],
      stages: {
        'near match': {
          stage: 'pending_approval',
          status: 'RUNNING',
          details: [
            `${transfer} Waiting for a person to approve it or to deny it, because the payee check says close_match, until {time} of business time, then it expires.`,
            "The approver's page: {page}",
          ],
        },
        settled: {
          stage: 'settled',
          status: 'RUNNING',
          details: [`${transfer} The payee's bank has the money. It can come back until {time} of business time.`],
        },
        'return window over': { stage: 'settled', status: 'COMPLETED', details: [`${transfer} Done: settled.`] },
        rejected: {
          stage: 'rejected',
          status: 'COMPLETED',
          details: [`${transfer} Done: rejected (rejected:AC04).`],
        },
        denied: {
          stage: 'denied',
          status: 'COMPLETED',
          details: [`${transfer} Done: denied.`, '- a signal that is not approve, deny or cancel was ignored'],
        },
        cancelled: { stage: 'cancelled', status: 'COMPLETED', details: [`${transfer} Done: cancelled.`] },
        expired: { stage: 'expired', status: 'COMPLETED', details: [`${transfer} Done: expired.`] },
      },
    },
  },
  journeys: [settled, approvedThenRejected, deniedBySignal, cancelled, expired],
  waiting: (seen) => ({
    readBankTransfer: async (id) => bankTransfer(seen(id)),
    decideBankTransfer: async (id, decision) => {
      assertShort(decision);
      return bankTransfer(seen(id));
    },
  }),
};
