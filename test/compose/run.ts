/**
 * Runs docker-compose.yml without containers: each service's own command, with exactly the environment that the file
 * gives it, in the order of `depends_on` and its health checks; then each one-shot a second time, and the demo's story.
 * `node test/compose/run.ts [--install] [--keep]`; says by name what it lacks and ends well where it cannot run.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../src/demo/http.ts';
import { runScenario } from '../../src/demo/scenario.ts';
import type { Ready } from '../../src/main/start.ts';
import { hasExited, stopChild } from '../../src/supervisor/launch.ts';
import { freePort } from '../../src/supervisor/ports.ts';
import { stopSignals } from '../../src/supervisor/stop-signals.ts';
import { presentTemporal } from '../../src/supervisor/temporal-binary.ts';
import { installationFolder } from '../support/installation.ts';
import { type Compose, madeEnv, projectFolder, readCompose, type Service } from './compose-file.ts';
import { type Place, placesOf } from './loopback.ts';
import { makeApp, missingPrograms, type Program, programName, programOf } from './stand-ins.ts';

const start = performance.now();
const say = (line: string): void =>
  void process.stdout.write(`${((performance.now() - start) / 1_000).toFixed(1).padStart(6)} s  ${line}\n`);

const binaries = process.env.BURSAR_TEMPORAL_BINARIES;
const missing = missingPrograms(binaries);
if (binaries === undefined || missing !== undefined) {
  say(`skipped: the compose file was not run, because ${missing}; docs/deploy.md says how to build what it needs`);
  process.exit(0);
}

// The one value that an operator sets: where callers reach the API's published port. Passkeys belong to that name.
const publicPort = await freePort();
const compose: Compose = readCompose({ ...madeEnv(), BURSAR_PUBLIC_URL: `http://localhost:${publicPort}` });
const folder = await installationFolder();
const places = placesOf(compose, process.pid, folder.dir);
const app = join(folder.dir, 'app');
const running = new Map<string, ChildProcess>();
const signals = stopSignals({ again: () => process.exit(130) });
process.exitCode = 1;
try {
  makeApp(serviceOf('api'), app, process.argv.includes('--install'));
  for (const name of inOrder(compose)) await bringUp(name);
  await publish('api', publicPort);
  for (const name of Object.keys(compose.services).filter(isOneShot)) await runOnce(name, 'again');
  await runScenario(await readyOf(), (line) => void process.stdout.write(`${line}\n`));
  await lookAtWebUi();
  if (process.argv.includes('--keep')) {
    say(`keeps running until Ctrl-C: API http://localhost:${publicPort}, UI http://${addressOf('temporal-ui')}:8080`);
    await signals.came;
  }
  process.exitCode = 0;
} finally {
  await takeDown();
  await folder.remove();
  signals.release();
}
say('everything stopped');

function serviceOf(name: string): Service {
  const service = compose.services[name];
  if (service === undefined) throw new Error(`there is no service ${name}`);
  return service;
}

function placeOf(name: string): Place {
  const place = places.get(name);
  if (place === undefined) throw new Error(`there is no service ${name}`);
  return place;
}

function addressOf(name: string): string {
  return placeOf(name).address;
}

function isOneShot(name: string): boolean {
  return serviceOf(name).restart.startsWith('on-failure');
}

/** Each after all that it depends on. */
function inOrder({ services }: Compose): string[] {
  const done: string[] = [];
  const visit = (name: string): void => {
    if (done.includes(name)) return;
    Object.keys(services[name]?.depends_on ?? {}).forEach(visit);
    done.push(name);
  };
  Object.keys(services).forEach(visit);
  return done;
}

async function bringUp(name: string): Promise<void> {
  if (isOneShot(name)) return runOnce(name, 'done');
  const child = started(name, await programFor(name));
  running.set(name, child);
  const { healthcheck } = serviceOf(name);
  if (healthcheck === undefined) return say(`${name} started`);
  const [kind, command = '', ...args] = healthcheck.test;
  if (kind !== 'CMD') throw new Error(`${name}: a health check of the kind ${kind} is not understood`);
  const { env, cwd } = await programFor(name, 'environment');
  for (let tries = 1; ; tries += 1) {
    const check = spawn(programName(command), args.map(placeOf(name).here), { env, cwd, stdio: 'ignore' });
    const [code] = await once(check, 'exit');
    if (code === 0) return say(`${name} healthy (${command}, try ${tries})`);
    if (hasExited(child) || tries > 200) throw new Error(`${name} does not become healthy:\n${tail(name)}`);
    await sleep(250);
  }
}

/** The environment alone makes no database cluster a second time. */
async function programFor(name: string, part: 'all' | 'environment' = 'all'): Promise<Program> {
  const service = serviceOf(name);
  const asked = part === 'environment' ? { ...service, command: ['true'] } : service;
  return programOf(asked, placeOf(name), { dir: folder.dir, binaries: binaries as string, app });
}

async function runOnce(name: string, how: string): Promise<void> {
  const child = started(name, await programFor(name));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${name} ended with ${code}:\n${tail(name)}`);
  say(`${name} ${how}: ${tail(name).trim().split('\n').at(-1)}`);
}

function started(name: string, { command, args, env, cwd, user }: Program): ChildProcess {
  mkdirSync(join(folder.dir, 'logs'), { recursive: true });
  const log = openSync(logOf(name), 'a', 0o600);
  const child = spawn(command, args, { env, cwd, ...user, stdio: ['ignore', log, log] });
  closeSync(log);
  return child;
}

function logOf(name: string): string {
  return join(folder.dir, 'logs', `${name}.log`);
}

function tail(name: string): string {
  return readFileSync(logOf(name), 'utf8').slice(-2_000);
}

/** As a published port does: what comes to this machine's port goes to the service's own. */
async function publish(name: string, port: number): Promise<void> {
  const inside = Number(serviceOf(name).ports[0]?.split(':').at(-1));
  const server = createServer((outer) => {
    const inner = connect(inside, addressOf(name));
    outer.pipe(inner).pipe(outer);
    outer.on('error', () => inner.destroy());
    inner.on('error', () => outer.destroy());
  });
  server.listen(port, '127.0.0.1').unref();
  await once(server, 'listening');
}

/** What the story needs to know, as `npm start` would tell it. */
async function readyOf(): Promise<Ready> {
  const { environment } = serviceOf('api');
  const apiUrl = environment.BURSAR_PUBLIC_URL ?? '';
  return {
    apiUrl,
    docsUrl: `${apiUrl}/docs`,
    apiKey: environment.BURSAR_API_KEY ?? '',
    ownerId: '',
    dashboardSecret: environment.BURSAR_DASHBOARD_SECRET ?? '',
    networkKey: environment.BURSAR_NETWORK_KEY ?? '',
    temporalAddress: `${addressOf('temporal')}:7233`,
    temporalUiUrl: `http://${addressOf('temporal-ui')}:8080`,
    temporalNamespace: environment.TEMPORAL_NAMESPACE ?? '',
    temporalCli: (await presentTemporal({ dir: join(projectFolder, '.bursar') })) ?? null,
    databaseUrl: placeOf('api').here(environment.DATABASE_URL ?? ''),
    sandboxUrl: placeOf('api').here(environment.BURSAR_SANDBOX_URL ?? ''),
  };
}

/** The list that an operator sees, as the Web UI's own server answers it; a run's last stage comes a moment later. */
async function lookAtWebUi(): Promise<void> {
  const base = `http://${addressOf('temporal-ui')}:8080`;
  const query = encodeURIComponent("BursarStage = 'completed'");
  const completed = await until(
    async () => {
      const answer = await fetch(`${base}/api/v1/namespaces/bursar/workflows?query=${query}`);
      return ((await answer.json()) as { executions?: unknown[] }).executions ?? [];
    },
    ({ length }) => length === 3,
    'three completed intents in the Web UI',
  );
  const page = await fetch(`${base}/`);
  if (page.status !== 200) throw new Error(`the Web UI answers ${page.status}`);
  say(`Web UI: ${completed.length} runs with BursarStage = 'completed'`);
}

async function takeDown(): Promise<void> {
  for (const [name, child] of [...running].reverse()) {
    const grace = Number(serviceOf(name).stop_grace_period?.replace('s', '') ?? 10) * 1_000;
    const signal = name === 'postgres' ? 'SIGINT' : 'SIGTERM'; // The image says so.
    const begin = performance.now();
    await stopChild(child, [
      { signal, withinMs: grace },
      { signal: 'SIGKILL', withinMs: 2_000 },
    ]);
    say(`${name} stopped in ${Math.round(performance.now() - begin)} ms (${child.exitCode ?? child.signalCode})`);
  }
}
