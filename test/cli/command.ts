/** Runs the command in this process, as a shell would: arguments and environment in, output and exit code out. @module */
import { PassThrough, Readable } from 'node:stream';
import { runProgram } from '../../src/cli/program.ts';

export type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

type Given = {
  readonly env?: Readonly<Record<string, string>>;
  readonly ended?: AbortSignal;
  readonly onDatabase?: (args: readonly string[], say: (text: string) => unknown) => Promise<number>;
};

export async function bursar(args: readonly string[], given: Given = {}): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const texts = { stdout: '', stderr: '' };
  stdout.on('data', (chunk: Buffer) => {
    texts.stdout += chunk.toString();
  });
  stderr.on('data', (chunk: Buffer) => {
    texts.stderr += chunk.toString();
  });
  const code = await runProgram(args, {
    env: given.env ?? {},
    stdin: Readable.from([]),
    stdout,
    stderr,
    ended: given.ended ?? new AbortController().signal,
    onDatabase: given.onDatabase ?? (async () => 0),
  });
  await new Promise((resolve) => setImmediate(resolve));
  return { code, ...texts };
}
