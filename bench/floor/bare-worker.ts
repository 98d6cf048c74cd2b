/** A worker for the bare workflows, with the product's own worker settings, in a separate process. @module */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { createLogger } from '../../src/platform/log.ts';
import { converterPath } from '../../src/temporal/connection.ts';
import { startWorker } from '../../src/temporal/worker.ts';
import { bareActivities } from './bare-activities.ts';

const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('./bare-workflows.ts', import.meta.url)),
  payloadConverterPath: converterPath,
  logger: new DefaultLogger('ERROR'),
});
const worker = startWorker({
  address: process.env.TEMPORAL_ADDRESS ?? '',
  namespace: 'default',
  taskQueue: 'bench-bare',
  activities: bareActivities,
  workflowBundle: { code },
  log: createLogger({ name: 'bench', level: 'silent' }),
});
process.on('SIGTERM', () => void worker.stop().then(() => process.exit(0)));
while (!worker.isRunning()) await new Promise((resolve) => setTimeout(resolve, 50));
process.send?.({ ready: true });
