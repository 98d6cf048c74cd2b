/**
 * `node test/replay/record-histories.ts [--only <workflow>] [--release] [--disturbed <how>] [folder]`: starts an
 * installation in a temporary folder, plays every journey on it, or those of one workflow, and writes the histories that
 * the replay suite reads. Run it after a change that breaks the replay of recorded histories (see the README beside
 * them), and review the difference. With `--disturbed fell-back` or `--disturbed continued` (`disturbances.ts`) it adds
 * the smallest such history of each workflow.
 * @module
 */
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { type Ready, start } from '../../src/main/start.ts';
import { folderElsewhere } from '../../src/supervisor/postgres-place.ts';
import { converterPath } from '../../src/temporal/connection.ts';
import { historyToJson } from '../support/history-json.ts';
import { playJourneys } from '../support/record/journeys.ts';
import { runOf } from '../support/record/run-of.ts';
import { startScriptedShop } from '../support/record/scripted-shop.ts';
import type { Played, Stage } from '../support/record/stage.ts';
import { type Disturbed, disturb, disturbedHistories, isDisturbance, type Recorded } from './disturbances.ts';

const { values, positionals } = parseArgs({
  options: { only: { type: 'string' }, release: { type: 'boolean' }, disturbed: { type: 'string' } },
  allowPositionals: true,
});
if (values.disturbed !== undefined && !isDisturbance(values.disturbed)) {
  throw new Error(`--disturbed is fell-back or continued, not ${values.disturbed}`);
}
/** With `--release`, that of the package's version, in which nothing is ever changed or removed. */
const released = `./released/${packageVersion()}/`;
const folder = positionals[0] ?? fileURLToPath(new URL(values.release ? released : './', import.meta.url));

const dir = await mkdtemp(join(tmpdir(), 'bursar-record-'));
const shop = await startScriptedShop();
const disturbed: Disturbed | undefined = values.disturbed && (await disturb(values.disturbed, dir));
const starting = start({
  env: {
    ...process.env,
    ...disturbed?.env,
    BURSAR_DATA_DIR: dir,
    PORT: '0',
    BURSAR_RATE_LIMIT_PER_MINUTE: '100000',
    BURSAR_ALLOWED_ORIGINS: shop.origin,
  },
  say,
});
try {
  const { ready } = await starting.running;
  await record(ready);
} finally {
  await starting.stop();
  await disturbed?.stop();
  await shop.close();
  // Root's PostgreSQL lies elsewhere.
  const places = process.getuid?.() === 0 ? [dir, await folderElsewhere(dir)] : [dir];
  for (const place of places) await rm(place, { recursive: true, force: true });
}

async function record(ready: Ready): Promise<void> {
  const { sandboxUrl, temporalAddress: address, temporalNamespace: namespace } = ready;
  if (sandboxUrl === null) throw new Error('journeys need a sandbox deployment');
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace, dataConverter: { payloadConverterPath: converterPath } });
  const stage: Stage = {
    ...ready,
    apiUrl: ready.apiUrl.replace('localhost', '127.0.0.1'),
    sandboxUrl,
    shop,
    isDisturbed: disturbed !== undefined,
    // Each stage is let settle, so that its own task is in the history.
    observe: async (label) => {
      say(label);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
    },
    runOf: runOf(client),
    signal: async (workflowId, input, name = 'decide') => {
      await client.workflow.getHandle(workflowId).signal(name, ...(input === undefined ? [] : [input]));
    },
  };
  const stopDisturbing = disturbed?.begin(client);
  // A journey that does not stand its disturbance leaves no history; the others do.
  const all = await playJourneys(stage, values.only, disturbed && ((error) => say(`a journey failed: ${error}`)));
  await stopDisturbing?.();
  // A journey of one workflow also ends runs of others, whose histories stay as they are.
  const played = all.filter(({ workflow }) => values.only === undefined || workflow === values.only);
  if (disturbed === undefined && !values.release) await removeOld();
  if (disturbed === undefined) for (const one of played) await writeWhole(client, one);
  else for (const one of await disturbedHistories(disturbed, client, played)) await add(one);
  await connection.close();
}

async function writeWhole(client: Client, { workflow, journey, workflowId }: Played): Promise<void> {
  const handle = client.workflow.getHandle(workflowId);
  await handle.result();
  await write({ workflow, journey, history: await handle.fetchHistory() });
}

async function write({ workflow, journey, history }: Recorded): Promise<void> {
  await mkdir(join(folder, workflow), { recursive: true });
  const text = `${JSON.stringify(historyToJson(history), withoutMachine)}\n`;
  await writeFile(join(folder, workflow, `${journey}.json`), text, { flag: values.release ? 'wx' : 'w' });
  say(`${workflow}/${journey}.json`);
}

/** A released one that is there stays. */
async function add(one: Recorded): Promise<void> {
  try {
    await write(one);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    say(`${one.workflow}/${one.journey}.json is there`);
  }
}

/**
 * On which machine it ran (`pid@host`, also in names of sticky queues), where its sources lie and where the approver's
 * page was says nothing of it.
 */
function withoutMachine(name: string, value: unknown): unknown {
  if (name === 'stackTrace') return '';
  if (typeof value !== 'string') return value;
  return name === 'data' ? withoutLink(value) : value.replaceAll(`@${hostname()}`, '@recorded');
}

function withoutLink(payload: string): string {
  const text = Buffer.from(payload, 'base64').toString();
  const clean = text.replace(/"approvalUrl":"[^"]*"/, '"approvalUrl":null');
  return clean === text ? payload : Buffer.from(clean).toString('base64');
}

/** Histories that are written anew or that no journey makes any more. Those of older rules are kept by their name. */
async function removeOld(): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (!entry.isDirectory() || entry.name === 'released' || (values.only ?? entry.name) !== entry.name) continue;
    const files = (await readdir(join(folder, entry.name))).filter((file) => !file.startsWith('before-'));
    for (const file of files) await rm(join(folder, entry.name, file));
  }
}

function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
