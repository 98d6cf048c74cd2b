/** Updates of runs that a test sends itself, past the gateway. @module */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { isCollision } from '../../src/temporal/call-errors.ts';

const attempts = 12;

/**
 * Repeated under one id, as the gateway does, where the server gave up the workflow task that the update came with: on a
 * busy machine a task is lost now and then, and a run that continues as new or ends loses one too.
 */
export async function updateRun<Answer>(
  run: WorkflowHandle,
  name: string,
  args: readonly unknown[] = [{}],
  updateId: string = randomUUID(),
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run.executeUpdate<Answer, [unknown, ...unknown[]]>(name, {
        args: args as [unknown, ...unknown[]],
        updateId,
      });
    } catch (error) {
      if (attempt === attempts || !isCollision(error)) throw error;
      await sleep(Math.min(25 * 2 ** attempt, 400));
    }
  }
}
