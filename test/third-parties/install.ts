/** Installs what stands in a separate folder, with its own lockfile, and runs programs there. @module */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Nothing where it is installed. */
export async function install(folder: string, ...flags: readonly string[]): Promise<void> {
  if (existsSync(join(folder, 'node_modules', '.package-lock.json'))) return;
  const { code, output } = await run('npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund', ...flags], folder);
  if (code !== 0) throw new Error(`it cannot be installed: npm ci in ${folder} ended so:\n${output}`);
}

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
