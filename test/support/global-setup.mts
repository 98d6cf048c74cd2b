/**
 * Starts what most tests share: one throwaway PostgreSQL with a migrated template database `tpl`, one Temporal dev
 * server and one workflow bundle. Starts nothing where only folders are asked for that need none of it.
 * @module
 */
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from 'jest';
import { claimDataDir, processMark, stopOrphans } from '../../src/supervisor/pids.ts';
import { freePort } from '../../src/supervisor/ports.ts';
import { applicationUrl, startPostgres } from '../../src/supervisor/postgres.ts';
import { temporalBinary } from '../../src/supervisor/temporal-binary.ts';
import { startTemporal } from '../../src/supervisor/temporal-server.ts';
import { setUpTemporal } from '../../src/temporal/set-up.ts';
import { keepStack, removeFolder, type TestStack } from './stack.mts';

type Patterns = { testPathPatterns: { patterns: string[] } };

/** These folders need no server, or start their own. */
const alone = /(^|\/)test\/(rules|architecture|local|journeys|crash|compose)(\/|$)/;

// biome-ignore lint/style/noDefaultExport: Jest takes the default export only
export default async function globalSetup({ testPathPatterns: { patterns } }: Config & Patterns): Promise<void> {
  chooseSeed();
  if (patterns.length > 0 && patterns.every((pattern) => alone.test(pattern))) return;
  const stack = await ownFolder();
  keepStack(stack);
  const [postgres, temporal, bundle] = await Promise.all([
    postgresWithTemplate(stack),
    temporalServer(stack),
    bundled(stack),
  ]);
  process.env.TEST_PG = postgres;
  process.env.TEST_TEMPORAL = temporal;
  process.env.TEST_BUNDLE = bundle;
  process.env.TEST_ANSWERS ??= join(stack.dir, 'answers');
}

/** TEST_SEED=random: the processes of the tests inherit the number that is chosen here. */
function chooseSeed(): void {
  if (process.env.TEST_SEED !== 'random') return;
  process.env.TEST_SEED = String(randomInt(2 ** 31));
  process.stderr.write(`TEST_SEED=${process.env.TEST_SEED}\n`);
}

async function postgresWithTemplate(stack: TestStack): Promise<string> {
  const postgres = await startPostgres({
    dir: stack.dir,
    port: await freePort(),
    password: 'test',
    database: 'tpl',
    applicationPassword: 'test',
    durable: false,
  });
  stack.stops.push(postgres.stop);
  await stack.claim.started('postgres', postgres.pid);
  const migrate = fileURLToPath(new URL('../../src/main/migrate.ts', import.meta.url));
  if (existsSync(migrate)) {
    const { runMigrations } = (await import(migrate)) as {
      runMigrations(url: string, applicationUrl: string): Promise<unknown>;
    };
    await runMigrations(postgres.url, applicationUrl(postgres.url, 'test'));
  }
  return postgres.url.slice(0, postgres.url.lastIndexOf('/') + 1);
}

async function temporalServer(stack: TestStack): Promise<string> {
  const binary = await temporalBinary({
    dir: fileURLToPath(new URL('../../.bursar', import.meta.url)),
    say: (line) => process.stderr.write(`${line}\n`),
  });
  const temporal = await startTemporal({ binary, dir: stack.dir, port: await freePort() });
  stack.stops.push(temporal.stop);
  await stack.claim.started('temporal', temporal.pid);
  await setUpTemporal({ address: temporal.address, namespace: 'default' });
  return temporal.address;
}

async function bundled(stack: TestStack): Promise<string> {
  const { bundleWorkflowsTo } = await import('../../src/temporal/bundle.ts');
  const path = join(stack.dir, 'workflows.js');
  await bundleWorkflowsTo(path);
  return path;
}

/** Passable for the system user postgres; what a killed run left behind is stopped and swept first. */
async function ownFolder(): Promise<TestStack> {
  const root = join(tmpdir(), `bursar-test-${process.getuid?.() ?? 0}`);
  await mkdir(root, { recursive: true });
  await chmod(root, 0o711);
  for (const name of await readdir(root)) {
    // two runs may sweep the same folder at once: the slower one only says so
    await sweep(join(root, name), Number(name.split('-')[0])).catch((error: Error) =>
      process.stderr.write(`${name} was not swept: ${error.message}\n`),
    );
  }
  const dir = await mkdtemp(join(root, `${process.pid}-`));
  await chmod(dir, 0o711);
  return { dir, claim: await claimDataDir(dir), stops: [] };
}

async function sweep(dir: string, pid: number): Promise<void> {
  if (processMark(pid)) return;
  const { orphans } = await claimDataDir(dir);
  await stopOrphans(orphans, () => [{ signal: 'SIGKILL', withinMs: 5_000 }]);
  await removeFolder(dir);
}
