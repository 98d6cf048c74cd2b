/**
 * How to run the pinned Schemathesis on this machine: by `uvx`, by `pipx`, or in a virtual environment under
 * `.bursar/`. Returns undefined on a machine without Python.
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Program = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly version: string;
};

const requirements = fileURLToPath(new URL('requirements.txt', import.meta.url));
const version = /^schemathesis==(.+)$/m.exec(readFileSync(requirements, 'utf8'))?.[1] ?? '';

export function schemathesis(say: (line: string) => void): Program | undefined {
  const wanted = `schemathesis==${version}`;
  if (runs('uvx', ['--version'])) {
    const args = ['--from', wanted, '--with-requirements', requirements, 'schemathesis'];
    return { command: 'uvx', args, env: {}, version };
  }
  const python = ['python3', 'python'].find(isRecent);
  if (python === undefined) return undefined;
  if (runs('pipx', ['--version'])) {
    // Either of the two that it may install with.
    const env = { PIP_CONSTRAINT: requirements, UV_CONSTRAINT: requirements };
    return { command: 'pipx', args: ['run', '--spec', wanted, 'schemathesis'], env, version };
  }
  return { command: ownEnvironment(python, say), args: [], env: {}, version };
}

const runs = (command: string, args: readonly string[]): boolean => spawnSync(command, args).status === 0;

function isRecent(python: string): boolean {
  const { status, stdout } = spawnSync(python, ['-c', 'import sys; print(*sys.version_info[:2])'], {
    encoding: 'utf8',
  });
  const [major = 0, minor = 0] = (stdout ?? '').trim().split(' ').map(Number);
  return status === 0 && major === 3 && minor >= 10;
}

function ownEnvironment(python: string, say: (line: string) => void): string {
  const dir = fileURLToPath(new URL(`../../../.bursar/schemathesis-${version}`, import.meta.url));
  const program = join(dir, 'bin', 'schemathesis');
  if (existsSync(program)) return program;
  say(`installing schemathesis ${version} into ${dir}`);
  for (const [command, args] of [
    [python, ['-m', 'venv', dir]],
    [join(dir, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', '-r', requirements]],
  ] as const) {
    const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
    if (status !== 0)
      throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? `exit code ${status}`}`);
  }
  return program;
}
