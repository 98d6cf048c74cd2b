/**
 * Runs the tests. Without arguments: the suites that kill whole installations run as a second Jest process beside all
 * others, because they mostly wait. The last line adds the counts of both. With arguments: one Jest with these.
 * @module
 */
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { temporalBinary } from '../../src/supervisor/temporal-binary.ts';

/** Each starts its own servers. */
const installations = ['test/crash/', 'test/journeys/'];

const counts = z.object({ passed: z.number(), failed: z.number(), skipped: z.number() });

const jest = [
  '--disable-warning=ExperimentalWarning',
  fileURLToPath(new URL('../../node_modules/jest/bin/jest.js', import.meta.url)),
];

type Job = { readonly arguments: readonly string[]; readonly countsFile?: string };

/** Returns the exit code of the Jest process; 1 when a signal ended it. */
function run({ arguments: given, countsFile }: Job): Promise<number> {
  const env = countsFile === undefined ? process.env : { ...process.env, TEST_COUNTS_FILE: countsFile };
  const child = spawn(process.execPath, [...jest, ...given], { stdio: 'inherit', env });
  const forward = (signal: NodeJS.Signals) => void child.kill(signal);
  process.on('SIGTERM', forward).on('SIGINT', forward);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      process.off('SIGTERM', forward).off('SIGINT', forward);
      resolve(code ?? 1);
    });
  });
}

async function runAll(): Promise<number> {
  // Both need it. Building it takes minutes, longer than a test may wait for its servers.
  await temporalBinary({
    dir: fileURLToPath(new URL('../../.bursar', import.meta.url)),
    say: (line) => process.stderr.write(`${line}\n`),
  });
  const jobs = [
    {
      arguments: [`--testPathIgnorePatterns=${installations.join('|')}`, '--maxWorkers=2'],
      countsFile: fileFor('all'),
    },
    { arguments: ['--maxWorkers=1', ...installations], countsFile: fileFor('installations') },
  ];
  const found = await Promise.all(
    jobs.map(async (job) => {
      const code = await run(job);
      return withExitCode(await countsIn(job.countsFile), code);
    }),
  );
  const sum = (of: keyof z.infer<typeof counts>) => found.reduce((total, one) => total + one[of], 0);
  const skipped = sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : '';
  process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed${skipped}\n`);
  return sum('failed') === 0 ? 0 : 1;
}

/** A job that counted no failed test and yet ended with an error (a teardown that threw, a signal) is one failure. */
const withExitCode = (counted: z.infer<typeof counts>, code: number) =>
  code !== 0 && counted.failed === 0 ? { ...counted, failed: 1 } : counted;

const fileFor = (name: string) => join(tmpdir(), `bursar-counts-${process.pid}-${name}.json`);

/** A job that ended before it counted is one failure. */
async function countsIn(file: string): Promise<z.infer<typeof counts>> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  await rm(file, { force: true });
  return text === undefined ? { passed: 0, failed: 1, skipped: 0 } : counts.parse(JSON.parse(text));
}

const given = process.argv.slice(2);
process.exitCode = given.length > 0 ? await run({ arguments: given }) : await runAll();
