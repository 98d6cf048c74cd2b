/**
 * Goal: a run that is started by hand, without input or with a wrong one, ends with a reason; its workflow task does not
 * fail without end. Method: every registered workflow, started on the real dev server with raw inputs.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { uuidv7 } from '../../../src/kernel/ids.ts';
import * as workflows from '../../../workflows/index.ts';
import { startWorkflowWorld, type WorkflowWorld } from '../../support/workflow-world.ts';

let world: WorkflowWorld;
beforeAll(async () => {
  world = await startWorkflowWorld({ default: async (name: string) => name });
});
afterAll(() => world.close());

const inputs: readonly (readonly [string, readonly unknown[]])[] = [
  ['nothing', []],
  ['null', [null]],
  ['a text', ['int_0123456789']],
  ['a number', [5]],
  ['no id', [{}]],
  ['an id that is a number', [{ id: 5 }]],
  ['an id that is an object', [{ id: { id: 'int_0123456789' } }]],
  ['an empty id', [{ id: '' }]],
  ['an id with a NUL', [{ id: 'int_0123\u00006789' }]],
  ['an id of 400 characters', [{ id: 'x'.repeat(400) }]],
];

describe.each(Object.keys(workflows))('%s', (workflow) => {
  test.each(inputs)('%s: the run ends', async (_, args) => {
    const handle = await world.startRaw(workflow, `by-hand/${uuidv7()}`, args);
    const ended = await handle.result().catch((error: unknown) => error);
    expect(ended).toBeInstanceOf(WorkflowFailedError);
    const { cause } = ended as WorkflowFailedError;
    expect(cause).toBeInstanceOf(ApplicationFailure);
    expect(cause).toMatchObject({ type: 'invalid_request', message: expect.stringContaining('{"id":"…"}') });
    expect(await failedTasksOf(handle)).toEqual([]);
  });
});

async function failedTasksOf(handle: WorkflowHandle): Promise<unknown[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).filter((event) => event.workflowTaskFailedEventAttributes != null);
}
