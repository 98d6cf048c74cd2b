/** Workflows of a made-up row, one for each step of `followRow`, for the tests of the skeleton. @module */
import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import type { Decision } from '../../../src/domains/identity/approvals/decision.messages.ts';
import type { RowState } from '../../../src/kernel/row-state.ts';
import { type FollowedRun, followRow, type RunInput } from '../../../workflows/lib/follow-row.ts';
import { whileRepeated } from '../../../workflows/lib/problem.ts';
import { databaseSteps, deliverySteps, onceSteps, outboundSteps } from '../../../workflows/lib/steps.ts';

export type SampleView = { readonly status: string };
export type SampleState = RowState<SampleView, 'settled', 'next' | 'other'>;
export type MarkedSample = SampleState & { readonly mayHaveSent: boolean };
export type SampleActivities = {
  readSample(id: string): Promise<SampleState>;
  actOnSample(id: string): Promise<SampleState>;
  settleSample(id: string): Promise<SampleState>;
  markSample(id: string, causeId: string): Promise<MarkedSample>;
  callForSample(id: string): Promise<SampleState>;
  sendSample(id: string, causeId: string): Promise<SampleState>;
  decideSample(id: string, decision: Decision): Promise<SampleState>;
  tellSample(id: string, told: Readonly<Record<string, string>>): Promise<SampleState>;
};

const { readSample, actOnSample, settleSample, markSample, decideSample, tellSample } =
  databaseSteps<SampleActivities>()({
    readSample: 'Reading the sample',
    actOnSample: 'Acting on a due time',
    settleSample: 'Acting on another due time',
    markSample: 'Noting that the call is about to be made',
    decideSample: 'Carrying out a decision',
    tellSample: 'Noting what a person tells',
  });
const { callForSample } = outboundSteps<SampleActivities>()({ callForSample: 'Calling, which may be repeated' });
const { callForSample: attemptSample } = deliverySteps<SampleActivities>()({ callForSample: 'Attempting a batch' });
const { sendSample } = onceSteps<SampleActivities>()({ sendSample: 'Calling, which must not be repeated' });

const sampleRun: FollowedRun<SampleView, 'settled', 'next' | 'other'> = {
  refresh: readSample,
  stage: ({ status }) => status,
  describe: () => 'A sample',
  waitingFor: { settled: 'Waiting until it is settled.' },
  outcome: ({ status }) => status,
};

export const stepping = (input: RunInput): Promise<SampleView> =>
  followRow(sampleRun, input, ({ step }) => step('settled', callForSample));

export const attempting = (input: RunInput): Promise<SampleView> =>
  followRow(sampleRun, input, ({ step }) => step('settled', attemptSample));

export const waiting = (input: RunInput): Promise<SampleView> =>
  followRow(sampleRun, input, ({ wait }) => wait('settled', { next: actOnSample, other: settleSample }));

/** Waits for decisions of people. */
export const deciding = (input: RunInput): Promise<SampleView> =>
  followRow({ ...sampleRun, decide: { carryOut: decideSample, refuse: () => undefined } }, input, ({ wait }) =>
    wait('settled'),
  );

/** Takes a signal of a person, which the row may refuse. */
export const listening = (input: RunInput): Promise<SampleView> => {
  const read = (typed: unknown) => ({ length: String(String(typed).length) });
  const signal = { name: 'tell', read, carryOut: tellSample, description: 'For people.' };
  return followRow({ ...sampleRun, signal }, input, ({ wait }) => wait('settled'));
};

export const sending = (input: RunInput): Promise<SampleView> =>
  followRow(sampleRun, input, ({ once }) =>
    once('settled', { mark: markSample, send: sendSample, whenDue: { next: actOnSample } }),
  );

/** Its call hangs until it is answered, and counts as stuck soon. */
export const repeating = async (): Promise<void> => {
  let isAnswered = false;
  setHandler(answered, () => {
    isAnswered = true;
  });
  await whileRepeated(() => condition(() => isAnswered), 300);
};
const answered = defineSignal('answered');
