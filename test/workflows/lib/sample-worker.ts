/**
 * A worker process for the sample workflows that a test may kill. Each activity is one HTTP call to the test, which has
 * the rows. Ends with the process that started it.
 * @module
 */
import { createLogger } from '../../../src/platform/log.ts';
import { startWorker } from '../../../src/temporal/worker.ts';
import type { SampleActivities } from './sample.workflow.ts';

const [address = '', taskQueue = '', codePath = '', rowsUrl = ''] = process.argv.slice(2);

const names = [
  'readSample',
  'actOnSample',
  'callForSample',
  'markSample',
  'sendSample',
  'decideSample',
] as const satisfies readonly (keyof SampleActivities)[];

const onRows =
  (name: string) =>
  async (...input: readonly unknown[]): Promise<unknown> => {
    const answer = await fetch(`${rowsUrl}/${name}`, { method: 'POST', body: JSON.stringify(input) });
    if (!answer.ok) throw new Error(`${name} was answered ${answer.status}`);
    return answer.json();
  };

startWorker({
  address,
  namespace: 'default',
  taskQueue,
  activities: Object.fromEntries(names.map((name) => [name, onRows(name)])),
  workflowBundle: { codePath },
  log: createLogger({ name: 'sample-worker', level: 'silent' }),
});

process.stdin.resume().on('end', () => process.exit());
