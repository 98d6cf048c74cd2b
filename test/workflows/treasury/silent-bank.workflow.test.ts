/**
 * Goal: the run of a transfer that the bank has keeps asking, reminding and recalling until the bank says how it went.
 * Method: the real dev server, activities replaced by rows in memory.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BankTransferRun } from '../../../activities/treasury/bank-transfer.activities.ts';
import {
  bankTransferFacts,
  type TimedTransfer,
} from '../../../src/domains/treasury/transfers/bank-transfer.run.rules.ts';
import { calendarDate } from '../../../src/kernel/calendar-date.ts';
import { type Id, newId } from '../../../src/kernel/ids.ts';
import { startWorkflowWorld, type WorkflowWorld } from '../../support/workflow-world.ts';

type Row = TimedTransfer & { readonly version: number };
const rows = new Map<string, Row>();
const done: string[] = [];

/** Long past, so that every due time has come. */
const past = new Date('2026-01-05T12:00:00.000Z');
const submitted = {
  ...{ version: 1, stage: 'submitted', scheme: 'instant', expiresAt: null, sentAt: past, askedAt: null, asks: 0 },
  ...{ settlementDate: null, reminders: 0, recallOutcome: null, returnWindowEndsAt: null, closedAt: null },
} as const satisfies Row;

const runOf = (id: string, row: Row): BankTransferRun => {
  const now = new Date();
  return {
    version: row.version,
    ...bankTransferFacts(row, { business: now, real: now }),
    view: {
      ...{ transferId: id as Id<'transfer'>, amountCents: 1_000, agentId: null, scheme: row.scheme, stage: row.stage },
      ...{ payeeCheck: 'match', approvalRule: null, failureReason: null, recallOutcome: row.recallOutcome },
      ...{ reminders: row.reminders, expiresAt: null, approvalUrl: null, needsPasskey: false },
      returnWindowEndsAt: row.returnWindowEndsAt?.toISOString() ?? null,
    },
  };
};
const rowOf = (id: string): Row => {
  const row = rows.get(id);
  if (row === undefined) throw new Error(`there is no transfer ${id}`);
  return row;
};
const step =
  (name: string, change: (row: Row) => Partial<Row>) =>
  async (id: string): Promise<BankTransferRun> => {
    done.push(name);
    const row = rowOf(id);
    const after = { ...row, ...change(row), version: row.version + 1 };
    rows.set(id, after);
    return runOf(id, after);
  };
const settled = { stage: 'settled', returnWindowEndsAt: past } as const;
const activities = {
  readBankTransfer: async (id: string) => runOf(id, rowOf(id)),
  askBank: step('ask', ({ asks }) => (asks === 0 ? { stage: 'accepted', asks: 1 } : { ...settled, asks: 2 })),
  remindOfTransfer: step('remind', () => settled),
  recallTransfer: step('recall', ({ stage }) => ({
    recallOutcome: 'requested',
    ...(stage === 'settled' ? { closedAt: new Date() } : settled),
  })),
  closeReturnWindow: step('close', () => ({ closedAt: new Date() })),
};

let world: WorkflowWorld;
beforeAll(async () => {
  world = await startWorkflowWorld(activities);
});
afterAll(() => world.close());

const followed = async (row: Row): Promise<readonly string[]> => {
  const id = newId('transfer');
  rows.set(id, row);
  done.length = 0;
  const handle = await world.start('bankTransfer', `transfer/${id}`, id);
  expect(await handle.result()).toMatchObject({ stage: 'settled' });
  return done;
};

test('the bank is asked about a transfer that it has, and again about one that it accepted, until it settled it', async () => {
  expect(await followed(submitted)).toEqual(['ask', 'ask', 'close']);
});

test('the owner is reminded of a batch payment that the bank accepted and says nothing more of', async () => {
  const settlementDate = calendarDate('2026-01-05');
  expect(await followed({ ...submitted, stage: 'accepted', scheme: 'batch', settlementDate })).toEqual([
    ...['remind', 'close'],
  ]);
});

test('a recall that is to be requested is requested while the bank has the transfer, and after it settled it', async () => {
  const asking = { ...submitted, scheme: 'batch', recallOutcome: 'asking' } as const;
  for (const stage of ['submitted', 'accepted'] as const)
    expect(await followed({ ...asking, stage })).toEqual(['recall', 'close']);
  expect(await followed({ ...asking, stage: 'settled' })).toEqual(['recall']);
});
