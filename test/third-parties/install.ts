/** Installs what stands in a separate folder, with its own lockfile, and runs programs there. @module */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const drafts = fileURLToPath(new URL('../../.bursar/installing/', import.meta.url));
/** The files of a folder that say to npm what to install, and how. */
const npmFiles = ['package.json', 'package-lock.json', '.npmrc'];

/**
 * Nothing where it is installed. npm works beside the folder, and its packages appear there in one step: several files
 * of tests install the same folder at once, and a second `npm ci` in it would delete packages that a program is reading.
 */
export async function install(folder: string, ...flags: readonly string[]): Promise<void> {
  const target = join(folder, 'node_modules');
  if (isInstalled(target)) return;
  await mkdir(drafts, { recursive: true });
  const draft = await mkdtemp(drafts);
  try {
    for (const name of npmFiles)
      if (existsSync(join(folder, name))) await copyFile(join(folder, name), join(draft, name));
    const { code, output } = await run('npm', ['ci', '--prefix', draft, '--no-audit', '--no-fund', ...flags], draft);
    if (code !== 0) throw new Error(`it cannot be installed: npm ci for ${folder} ended so:\n${output}`);
    await rename(join(draft, 'node_modules'), target).catch((error: unknown) => {
      // another one was faster
      if (!isInstalled(target)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** npm writes this file last. */
const isInstalled = (packages: string): boolean => existsSync(join(packages, '.package-lock.json'));

/** Its exit code, and what both streams received. */
export function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; output: string; stdout: string }> {
  return new Promise((resolve) => {
    execFile(
      command,
      args,
      { cwd, maxBuffer: 16 * 1024 * 1024, env: { ...process.env, ...env } },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: `${stdout}${stderr}`, stdout });
      },
    );
  });
}
