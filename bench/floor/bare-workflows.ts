/** The floor of the workflows: one activity, several, and one update that runs one activity. No rows, no rules. @module */
import {
  allHandlersFinished,
  condition,
  defineUpdate,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';
import type { bareActivities } from './bare-activities.ts';

const { answer, get } = proxyActivities<typeof bareActivities>({ startToCloseTimeout: '10 seconds' });

export const bare = ({ id }: { id: string }): Promise<string> => answer(id);

const { answer: answerAtOnce } = proxyLocalActivities<typeof bareActivities>({ startToCloseTimeout: '10 seconds' });

export type Steps = {
  readonly local: number;
  readonly regular: number;
  readonly url: string;
  /** Of each activity, in PostgreSQL. */
  readonly commits: { readonly local: number; readonly regular: number };
};

const ended = defineUpdate<void>('ended');

/**
 * So many activities, local ones and regular ones in turn. The first and the last regular one request the address. The
 * caller waits by an update, as the API does for a payment.
 */
export async function bareSteps({ local, regular, url, commits }: Steps): Promise<void> {
  let hasEnded = false;
  setHandler(ended, () => condition(() => hasEnded));
  for (let step = 1; step <= Math.max(local, regular); step++) {
    if (step <= local) await answerAtOnce(String(step), commits.local);
    if (step === 1 || step === regular) await get(url, commits.regular);
    else if (step < regular) await answer(String(step), commits.regular);
  }
  hasEnded = true;
  await condition(allHandlersFinished);
}

const decide = defineUpdate<string, [string]>('decide');

export async function bareUpdate({ id }: { id: string }): Promise<string> {
  let decision: string | undefined;
  setHandler(decide, async (decided) => {
    decision = await answer(decided);
    return decision;
  });
  await condition(() => decision !== undefined);
  return id;
}
