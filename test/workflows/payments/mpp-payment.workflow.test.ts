/**
 * Goal: the run of a machine payment presents its credential once, whatever is lost, and then finds out how it went
 * without paying again. Method: the real dev server, activities replaced by rows in memory.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import {
  type MppPaymentView,
  parseResolution,
} from '../../../src/domains/payments/mpp-payments/mpp-payment.messages.ts';
import {
  type ChargeOutcome,
  type MppPaymentStatus,
  mppPaymentFacts,
  settlementOf,
} from '../../../src/domains/payments/mpp-payments/mpp-payment.rules.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { day, second } from '../../../src/kernel/instant.ts';
import { updateRun } from '../../support/update-run.ts';
import { startWorkflowWorld, type WorkflowWorld } from '../../support/workflow-world.ts';
import { eventually } from '../../support/world.ts';

type Row = {
  status: MppPaymentStatus;
  version: number;
  chargeOutcome: ChargeOutcome | null;
  sendCause: string | null;
  sentAt: Date | null;
  sendUntil: Date | null;
  presentedAt: Date | null;
  done: string[];
  /** What each step throws once. */
  faults: string[];
  /** The status after the merchant's answer. */
  answered: MppPaymentStatus;
  /** Of the activity that sends: it never answers. */
  hangs: boolean;
  /** The activities are those of a release whose step that sends did not claim the row. */
  isMarkedFirst: boolean;
};
const rows = new Map<string, Row>();

function aPayment(over: Partial<Row> = {}): { id: string; row: Row } {
  const id = newId('mppPayment');
  const row: Row = {
    status: 'requested',
    version: 1,
    chargeOutcome: null,
    sendCause: null,
    sentAt: null,
    sendUntil: null,
    presentedAt: null,
    done: [],
    faults: [],
    answered: 'paid',
    hangs: false,
    isMarkedFirst: false,
    ...over,
  };
  rows.set(id, row);
  return { id, row };
}

function stateOf(id: string) {
  const row = rows.get(id) as Row;
  const now = new Date();
  const { status, version, chargeOutcome } = row;
  const view: MppPaymentView = {
    paymentId: id,
    intentId: 'int_aaaaaaaa',
    agentId: 'ag_aaaaaaaa',
    status,
    amountCents: 1_250,
    chargeOutcome,
    transactionId: null,
    merchantStatus: null,
    code: null,
    givenUpAt: '2026-03-08T12:05:00.000Z',
    isAnswered: !['requested', 'challenged', 'allowed', 'minted', 'presenting', 'unknown'].includes(status),
  };
  const { dueInMs, ...facts } = mppPaymentFacts(row, { business: now, real: now });
  const { send, ...older } = dueInMs;
  return { version, ...facts, dueInMs: row.isMarkedFirst ? older : dueInMs, view };
}

const moving = (name: string, from: MppPaymentStatus, to: (row: Row) => MppPaymentStatus) => async (id: string) => {
  const row = rows.get(id) as Row;
  if (row.faults[0] === name) {
    row.faults.shift();
    throw new Error('the world is away');
  }
  row.done.push(name);
  if (row.status === from) Object.assign(row, { status: to(row), version: row.version + 1 });
  return stateOf(id);
};

const obtain = moving('obtain', 'requested', () => 'minted');

const noPayment = () => ApplicationFailure.create({ message: 'no payment', type: 'not_found', nonRetryable: true });

const activities = {
  readMppPayment: async (id: string) => {
    if (!rows.has(id)) throw noPayment();
    return stateOf(id);
  },
  obtainMppCredential: async (id: string) => {
    const row = rows.get(id);
    if (row === undefined) throw noPayment();
    return row.status === 'requested' ? obtain(id) : stateOf(id);
  },
  markMppPresentation: async (id: string, causeId: string) => {
    const row = rows.get(id) as Row;
    if (row.status === 'minted') {
      const now = new Date();
      Object.assign(row, { status: 'presenting', sendCause: causeId, sendUntil: now, presentedAt: now });
      row.version += 1;
      row.done.push('mark');
    }
    return { ...stateOf(id), mayHaveSent: row.sendCause !== causeId };
  },
  presentMppCredential: async (id: string, causeId: string) => {
    const row = rows.get(id) as Row;
    if (row.faults[0] === 'send') {
      row.faults.shift();
      throw new Error('it ended before it claimed');
    }
    const now = new Date();
    const isMarked = row.status === 'presenting' && row.sendCause === causeId && row.sentAt === null;
    if (!isMarked && (row.status !== 'minted' || row.isMarkedFirst)) return stateOf(id);
    Object.assign(row, { status: 'presenting', sendCause: causeId, sendUntil: now, presentedAt: now, sentAt: now });
    row.version += 1;
    row.done.push('send');
    if (row.hangs) throw new Error('the connection broke');
    Object.assign(row, { status: row.answered, version: row.version + 1 });
    return stateOf(id);
  },
  endMppPresentation: moving('end', 'presenting', ({ sentAt }) => (sentAt === null ? 'refused' : 'unknown')),
  recordMppCharge: async (id: string) => {
    const row = rows.get(id) as Row;
    const command = settlementOf(row);
    if (command !== undefined)
      Object.assign(row, { status: command === 'pay' ? 'paid' : 'declined', version: row.version + 1 });
    row.done.push('charge');
    return stateOf(id);
  },
  endMppSilence: moving('silence', 'unknown', () => 'not_paid'),
  resolveMppPayment: async (id: string, typed: unknown) => {
    const row = rows.get(id) as Row;
    const parsed = parseResolution(typed);
    if ('ignored' in parsed || row.status !== 'unknown')
      throw ApplicationFailure.create({ message: `it is ${row.status}`, type: 'invalid_state', nonRetryable: true });
    row.done.push(`${parsed.outcome} by ${parsed.by}`);
    Object.assign(row, { status: parsed.outcome === 'paid' ? 'paid' : 'not_paid', version: row.version + 1 });
    return stateOf(id);
  },
};

let world: WorkflowWorld;
beforeAll(async () => {
  world = await startWorkflowWorld(activities);
});
afterAll(() => world.close());

const start = (id: string): Promise<WorkflowHandle> => world.start('mppPayment', `mpp-payment/${id}`, id);
const pay = (handle: WorkflowHandle): Promise<MppPaymentView> => updateRun<MppPaymentView>(handle, 'pay');
const sends = ({ done }: Row): number => done.filter((step) => step === 'send').length;

test('reads as the process: its credential obtained, presented once', async () => {
  const { id, row } = aPayment({ faults: ['obtain', 'obtain'] });
  const handle = await start(id);
  expect(await pay(handle)).toMatchObject({ paymentId: id, status: 'paid' });
  expect(await handle.result()).toMatchObject({ status: 'paid' });
  expect(row.done).toEqual(['obtain', 'send']);
});

test('a run that an older release began marks first, and then presents once', async () => {
  const { id, row } = aPayment({ isMarkedFirst: true });
  expect(await (await start(id)).result()).toMatchObject({ status: 'paid' });
  expect(row.done).toEqual(['obtain', 'mark', 'send']);
});

test('a step that ends before it has claimed the row is repeated: nothing was sent', async () => {
  const { id, row } = aPayment({ faults: ['send', 'send'] });
  expect(await (await start(id)).result()).toMatchObject({ status: 'paid' });
  expect(row.done).toEqual(['obtain', 'send']);
});

test('a payment that is refused at any step before is answered, and nothing is presented', async () => {
  for (const status of ['refused'] as const) {
    const { id, row } = aPayment({ status });
    expect(await (await start(id)).result()).toMatchObject({ status });
    expect(row.done).toEqual([]);
  }
});

test('without an answer the outcome is unknown: nothing is sent again, and the network settles it', async () => {
  const { id, row } = aPayment({ hangs: true });
  const handle = await start(id);
  await eventually(
    async () => row.done.includes('send'),
    (isSent) => isSent,
  );
  row.sentAt = new Date(Date.now() - 11 * second);
  await handle.signal('wake');
  await eventually(
    async () => row.status,
    (status) => status === 'unknown',
  );
  await eventually(
    () => world.detailsOf(handle),
    (details) => /12.50 EUR for agent ag_\w+, intent int_\w+. The merchant gave no answer, and no charge/.test(details),
  );
  row.chargeOutcome = 'approved'; // As the authorization writes it, with the wake.
  row.version += 1;
  await handle.signal('wake');
  expect(await handle.result()).toMatchObject({ status: 'paid' });
  expect(row.done).toEqual(['obtain', 'send', 'end', 'charge']);
});

test('a charge that is found when the seven days are over settles the payment', async () => {
  const presentedAt = new Date(Date.now() - 9 * day);
  const { id, row } = aPayment({ status: 'unknown', chargeOutcome: 'approved', presentedAt });
  expect(await (await start(id)).result()).toMatchObject({ status: 'paid' });
  expect(row.done).toEqual(['charge']);
});

test('a run that is lost after the row says that it sends asks for the outcome, and does not send', async () => {
  const { id, row } = aPayment({
    status: 'presenting',
    sendCause: 'mpp-payment/lost/run/answered',
    sendUntil: new Date(),
  });
  row.sentAt = new Date(Date.now() - 11 * second);
  row.presentedAt = new Date(Date.now() - 8 * day);
  expect(await (await start(id)).result()).toMatchObject({ status: 'not_paid' });
  expect([sends(row), row.done]).toEqual([0, ['end', 'silence']]);
});

test('what was marked by a lost run and never sent is refused when its time is over', async () => {
  const sendUntil = new Date(Date.now() - 60 * second);
  const { id, row } = aPayment({ status: 'presenting', sendCause: 'mpp-payment/lost/run/answered', sendUntil });
  expect(await (await start(id)).result()).toMatchObject({ status: 'refused' });
  expect([sends(row), row.done]).toEqual([0, ['end']]);
});

test('a run that was terminated between sending and answer: its successor never sends a second time', async () => {
  const { id, row } = aPayment({ hangs: true });
  const handle = await start(id);
  await eventually(
    async () => row.done.includes('send'),
    (isSent) => isSent,
  );
  await handle.terminate('lost');
  const again = await start(id);
  row.sentAt = new Date(Date.now() - 11 * second);
  await again.signal('wake');
  row.chargeOutcome = 'declined';
  expect(await again.result()).toMatchObject({ status: 'declined' });
  expect(sends(row)).toBe(1);
});

test('the stack trace of a run that waits names the line of the process', async () => {
  const { id } = aPayment({ status: 'unknown' });
  const handle = await start(id);
  const trace = await eventually(
    () => handle.query<string>('__stack_trace'),
    (found) => /at wait .*follow-row\.ts:\d+/.test(found),
  );
  expect(trace).toMatch(/at wait .*mpp-payment\.workflow\.ts:\d+/);
  await handle.terminate();
});

test('an operator settles it by signal; what makes no sense is ignored, and a late one is refused', async () => {
  const { id, row } = aPayment({ status: 'unknown', sentAt: new Date(), presentedAt: new Date() });
  const handle = await start(id);
  for (const typed of ['yes', { outcome: 'perhaps' }, 7, null, undefined]) await handle.signal('resolve', typed);
  await handle.signal('resolve', { outcome: 'not paid', by: 'anna', more: 'x'.repeat(500) });
  await handle.signal('resolve', 'paid');
  expect(await handle.result()).toMatchObject({ status: 'not_paid' });
  expect(row.done).toEqual(['not-paid by anna']);
});
