/** Bundles the workflows once, for every queue of a process and for tests. @module */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));

const workflowConverterPath = fileURLToPath(new URL('./workflow-data-converter.ts', import.meta.url));

export async function bundleWorkflows(entry = workflowsPath): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: entry,
    payloadConverterPath: workflowConverterPath,
    logger: new DefaultLogger('ERROR'),
  });
  return code;
}

/** For test runs, which share one bundle between processes. `entry` is a file that exports other workflows. */
export async function bundleWorkflowsTo(path: string, entry?: string): Promise<void> {
  await writeFile(path, await bundleWorkflows(entry));
}
