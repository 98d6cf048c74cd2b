/**
 * Bundles the workflows once, for every queue of a process and for tests. Their modules are loaded once for all runs of
 * a worker: loading them for each run cost as much as a workflow task, and code that is new in each run stays slow.
 * @module
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

const workflowsPath = pathOf('../../workflows/index.ts');

export async function bundleWorkflows(entry = workflowsPath): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: entry,
    payloadConverterPath: pathOf('./workflow-data-converter.ts'),
    preloadModules: [pathOf('../../workflows/lib/sandbox.ts'), workflowsPath],
    logger: new DefaultLogger('ERROR'),
  });
  return code;
}

/** For test runs, which share one bundle between processes. `entry` is a file that exports other workflows. */
export async function bundleWorkflowsTo(path: string, entry?: string): Promise<void> {
  await writeFile(path, await bundleWorkflows(entry));
}
