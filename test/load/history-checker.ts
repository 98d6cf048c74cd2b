/**
 * Checks recorded histories for linearizability with the Go program in `linearizability/` (Porcupine). It is built at
 * its first use; a machine without Go, or without the module and the network, cannot check.
 * @module
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const verdict = z.object({
  history: z.string(),
  model: z.string(),
  operations: z.int(),
  unknown: z.int(),
  /** `unknown`: the time was not enough. */
  verdict: z.enum(['ok', 'illegal', 'unknown']),
});
export type Verdict = z.output<typeof verdict>;

export type Checker = { check(lines: readonly object[]): Promise<Verdict[]>; close(): Promise<void> };

const source = fileURLToPath(new URL('linearizability', import.meta.url));

/** Or why there is none. */
export async function openChecker(): Promise<Checker | string> {
  if (spawnSync('go', ['version']).error !== undefined) return 'needs Go';
  const dir = await mkdtemp(join(tmpdir(), 'bursar-linearizability-'));
  const program = join(dir, 'check');
  const built = spawnSync('go', ['build', '-o', program, '.'], { cwd: source, encoding: 'utf8' });
  const close = () => rm(dir, { recursive: true, force: true });
  if (built.status !== 0) {
    await close();
    return `needs the Go module Porcupine: ${built.stderr.trim().split('\n').at(-1)}`;
  }
  return { check: (lines) => verdictsOf(program, lines), close };
}

async function verdictsOf(program: string, lines: readonly object[]): Promise<Verdict[]> {
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  child.stdin.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const code = await ended;
  if (code !== 0) throw new Error(`the checker ended with ${code}`);
  return output
    .trim()
    .split('\n')
    .map((line) => verdict.parse(JSON.parse(line)));
}
