/**
 * Goal: operators see what a worker does, read why a run cannot continue, and stop a worker in time. Method: a whole
 * installation with its metrics port open, a run whose workflow task fails, and a receiver that never answers.
 * @module
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isAlive } from '../../../src/supervisor/pids.ts';
import { freePort } from '../../../src/supervisor/ports.ts';
import { searchAttributes } from '../../../src/temporal/gateway.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { type Installation, startInstallation } from '../../support/installation.ts';
import { openTemporal } from '../../support/operator-view.ts';
import { networkOf } from '../../support/payments-world.ts';
import { eventually } from '../../support/world.ts';

let bursar: Installation;
let metricsUrl: string;
let silent: Server;
let received = 0;
beforeAll(async () => {
  silent = createServer(() => {
    received += 1;
  });
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const port = await freePort();
  metricsUrl = `http://127.0.0.1:${port}/metrics`;
  bursar = await startInstallation({
    BURSAR_METRICS_PORT: String(port),
    BURSAR_ALLOWED_ORIGINS: originOf(silent),
  });
  await bursar.isWell();
}, 120_000);
afterAll(async () => {
  await bursar.stop();
  silent.closeAllConnections();
  silent.close();
});

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const metrics = async (): Promise<string> => (await fetch(metricsUrl)).text();
const log = (name: string): Promise<string> => readFile(join(bursar.dir, 'logs', `${name}.log`), 'utf8');

test('one address shows the figures of Bursar and of the SDK', async () => {
  const { agents } = clientsOf(await bursar.owner());
  await agents.createAgent({ body: { name: 'buyer' } });
  const { apiUrl, networkKey } = bursar.ready;
  const nobodys = {
    id: 'clr_nobody',
    authorizationId: 'auth_nobody',
    cardRef: 'cr_nobody',
    amountCents: 1,
    final: true,
  };
  const network = networkOf({ apiUrl, networkKey });
  expect((await network.send('clearings', nobodys)).status).toBe(200);
  const { authorizationId, cardRef } = nobodys;
  expect((await network.send('reversals', { id: 'rev_nobody', authorizationId, cardRef })).status).toBe(200);
  const lines = [
    /^bursar_pool_connections\{state="waiting"\} \d+$/m,
    /^bursar_deliveries_waiting \d+$/m,
    /^bursar_wakes_waiting \d+$/m,
    /^bursar_starts_waiting \d+$/m,
    /^bursar_unsealed_journals \d+$/m,
    /^bursar_network_messages_waiting\{reason="unknown_card"\} 2$/m,
    /^bursar_sanctions_list 2$/m,
    /^bursar_runs\{list="stuck"\} 0$/m,
    /^bursar_loop_age_seconds\{loop="relay"\} [\d.]+$/m,
    /^temporal_activity_execution_latency/m,
    /^temporal_worker_task_slots_available\{/m,
  ];
  // Temporal is asked for the runs, and an activity ends, only some time after the start.
  const text = await eventually(metrics, (shown) => lines.every((line) => line.test(shown))).catch(metrics);
  for (const line of lines) expect(text).toMatch(line);
  expect(text).not.toMatch(/\b(ag|own|int|sk)_[a-z0-9]{8,}/);
});

/** What counts ended runs is served from the first one on. */
async function aRunEnds(): Promise<void> {
  const { agents, intents } = clientsOf(await bursar.owner());
  const { id: agentId } = await agents.createAgent({ body: { name: 'buyer' } });
  const { id } = await intents.declareIntent({
    body: { agentId, purpose: 'dear', expectedAmountEuros: 80, expectedMerchant: 'Sandbox Shop' },
  });
  await intents.cancelIntent({ params: { id } });
}

/** Each metric of the dashboard and of the alert rules; what counts failures is served from the first failure on. */
async function servesWhatIsWatched(): Promise<void> {
  const files = ['dashboard.json', 'alerts.yaml'].map((name) =>
    readFileSync(new URL(`../../../docs/monitoring/${name}`, import.meta.url), 'utf8'),
  );
  const expressions = files.flatMap((text) => [...text.matchAll(/"?expr"?: (.*)/g)].map(([, expr = '']) => expr));
  const watched = new Set(expressions.flatMap((expr) => expr.match(/\b(bursar|temporal)_\w+/g) ?? []));
  expect(watched.size).toBeGreaterThan(12);
  await eventually(
    async () => {
      const served = new Set((await metrics()).split('\n').map((line) => line.split(/[ {]/)[0]));
      return [...watched].filter((name) => !served.has(name));
    },
    (missing) => missing.length === 0,
  );
}

test('a run whose workflow task fails: the log names it, the metric counts it, and terminating ends it', async () => {
  const temporal = await openTemporal(bursar.ready.temporalAddress);
  // No worker has code for this type: its task fails until one comes that does, as in an update to a new version.
  const blocked = await temporal.client.workflow.start('ofAnotherVersion', {
    workflowId: 'intent/blocked',
    taskQueue: 'bursar-main',
  });
  const line = await eventually(
    async () => (await log('worker')).split('\n').find((one) => /this run cannot continue/.test(one)),
    (found) => found !== undefined,
  );
  expect(JSON.parse(line ?? '')).toMatchObject({
    level: 'warn',
    workflowId: 'intent/blocked',
    workflowType: 'ofAnotherVersion',
  });
  await eventually(metrics, (text) =>
    /^temporal_workflow_task_execution_failed.*workflow_type="ofAnotherVersion".* [1-9]/m.test(text),
  );
  await aRunEnds();
  await servesWhatIsWatched();
  await operator('workflow', 'describe', '--workflow-id', 'intent/blocked');
  await operator('workflow', 'terminate', '--workflow-id', 'intent/blocked', '--reason', 'cannot continue');
  expect((await blocked.describe()).status.name).toBe('TERMINATED');
  await temporal.close();
});

test('a stuck run is counted until it ends', async () => {
  const temporal = await openTemporal(bursar.ready.temporalAddress);
  const stuck = await temporal.client.workflow.start('ofAnotherVersion', {
    workflowId: 'intent/stuck',
    taskQueue: 'without-a-worker',
    typedSearchAttributes: [{ key: searchAttributes.problem, value: 'stuck' }],
  });
  await eventually(metrics, (text) => text.includes('bursar_runs{list="stuck"} 1'));
  await stuck.terminate('the end of the test');
  await eventually(metrics, (text) => text.includes('bursar_runs{list="stuck"} 0'));
  await temporal.close();
});

test('a reset run continues from its row', async () => {
  const { agents, intents } = clientsOf(await bursar.owner());
  const { id: agentId } = await agents.createAgent({ body: { name: 'buyer' } });
  const { id } = await intents.declareIntent({
    body: { agentId, purpose: 'dear', expectedAmountEuros: 80, expectedMerchant: 'Sandbox Shop' },
  });
  const temporal = await openTemporal(bursar.ready.temporalAddress);
  await temporal.started(`intent/${id}`);
  await eventually(
    () => temporal.viewOf(`intent/${id}`),
    ({ details }) => details.includes('Waiting for a person'),
  );
  await operator(
    'workflow',
    'reset',
    '--workflow-id',
    `intent/${id}`,
    '--type',
    'FirstWorkflowTask',
    '--reason',
    'test',
  );
  expect(await intents.approveIntent({ params: { id } })).toMatchObject({ status: 'approved' });
  await temporal.close();
});

/** The commands of temporal-config/README.md. */
const operator = (...command: string[]): Promise<unknown> =>
  promisify(execFile)(bursar.ready.temporalCli ?? '', [...command, '--address', bursar.ready.temporalAddress]);

/** Nothing kills it here: it ends after SIGTERM, or never. The supervisor starts it again. */
async function stop(name: 'worker' | 'api'): Promise<void> {
  const process = await bursar.child(name);
  await bursar.signal(name, 'SIGTERM');
  await eventually(
    async () => isAlive(process),
    (alive) => !alive,
  );
}

const endedByItself = (name: string): string => `${name} ended (code 0), starting it again`;

test('with a receiver that never answers, worker and API end by themselves', async () => {
  const { agents, webhooks } = clientsOf(await bursar.owner());
  await webhooks.createWebhook({ body: { url: `${originOf(silent)}/`, events: ['*'] } });
  await agents.createAgent({ body: { name: 'buyer' } });
  await eventually(
    async () => received,
    (count) => count > 0,
  );
  const hanging = fetch(`${bursar.apiUrl}/intents`, {
    method: 'POST',
    body: new ReadableStream(),
    duplex: 'half',
  } as never);
  hanging.catch(() => undefined);
  for (const name of ['worker', 'api'] as const) await stop(name);
  await eventually(
    async () => bursar.said.filter((line) => /ended/.test(line)).sort(),
    (said) => said.join() === ['api', 'worker'].map(endedByItself).join(),
  );
  await bursar.isWell();
}, 240_000);
