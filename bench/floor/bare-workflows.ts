/** The floor of the workflows: one activity, and one update that runs one activity. No rows, no rules. @module */
import { condition, defineUpdate, proxyActivities, setHandler } from '@temporalio/workflow';
import type { bareActivities } from './bare-activities.ts';

const { answer } = proxyActivities<typeof bareActivities>({ startToCloseTimeout: '10 seconds' });

export const bare = ({ id }: { id: string }): Promise<string> => answer(id);

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
