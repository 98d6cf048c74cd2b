/**
 * Goal: a workflow without a sentence for each fact, or with a misspelt fact or due time, is not accepted. Method: the
 * compiler checks the lines marked `@ts-expect-error`; such a line that compiles is itself an error.
 * @module
 */
import type { RowState } from '../../src/kernel/row-state.ts';
import type { WorkflowRegistration } from '../../src/temporal/workflow-registry.ts';
import type { FollowedRun, Process } from '../../workflows/lib/follow-row.ts';
import { databaseSteps } from '../../workflows/lib/steps.ts';

type View = { readonly status: string };
type State = RowState<View, 'sent' | 'settled', 'deadline'>;
type Activities = { read(id: string): Promise<State>; expire(id: string): Promise<State> };

// @ts-expect-error an activity that does not exist has no summary
const { read, expire } = databaseSteps<Activities>()({ read: 'Reading', expire: 'Expiring', send: 'Sending' });

// @ts-expect-error a step without a summary is not there
const { expire: without } = databaseSteps<Activities>()({ read: 'Reading' });

export const run: FollowedRun<View, 'sent' | 'settled', 'deadline'> = {
  refresh: read,
  stage: ({ status }) => status,
  describe: () => '80.00 EUR',
  // @ts-expect-error the fact `settled` has no sentence
  waitingFor: { sent: 'Sending.' },
  outcome: ({ status }) => status,
};

export async function process({ wait }: Process<View, 'sent' | 'settled', 'deadline'>): Promise<unknown> {
  await wait('settled', { deadline: expire });
  // @ts-expect-error a misspelt fact
  await wait('setled');
  // @ts-expect-error a misspelt due time
  await wait('settled', { dedline: expire });
  return without;
}

// @ts-expect-error a workflow without a summary
export const registered: WorkflowRegistration = { type: 'sample', idPrefix: 'sample', queue: 'main' };
