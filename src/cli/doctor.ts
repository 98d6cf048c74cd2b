/** `bursar doctor`: what is wrong with this installation, and what to do about it. Changes nothing. @module */
import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { dataDirPath } from '../supervisor/data-dir.ts';
import { runningSupervisor } from '../supervisor/pids.ts';
import { readReady } from '../supervisor/ready-file.ts';
import { Refusal } from './api.ts';
import type { Command, Context } from './context.ts';
import { examineDatabase, examineFolder, examineTemporal, type Finding, isTaken } from './doctor-parts.ts';
import { CommandError, exitCodes } from './exit-codes.ts';
import { plain } from './output.ts';
import type { Agent } from './records.ts';
import { isOpenToOthers } from './settings.ts';

export const doctor: Command<object> = async (context) => {
  const { api, out } = context;
  if (api.isPrinting) {
    await api.call('GET', '/health', { as: 'anonymous' });
    return exitCodes.done;
  }
  const { env } = context;
  const ready = await readReady(dataDirPath({ ...env }));
  const findings = [
    await installation(context),
    ...(await examineFolder(env)),
    ...(await fileModes(context)),
    ...(await examineDatabase({ env, ready })),
    ...(await examineTemporal({ env, ready })),
    ...(await service(context)),
    ...(await credentials(context)),
    ...(await webhooks(context)),
  ];
  const isWell = findings.every(({ isOk }) => isOk);
  out.result({ ok: isWell, findings }, [
    ...findings.flatMap(({ check, isOk, found, remedy }) => [
      `${isOk ? out.good('ok ') : out.bad('bad')}  ${check}: ${plain(found)}`,
      ...(isOk || remedy === undefined ? [] : [`     ${remedy}`]),
    ]),
    isWell ? 'nothing is wrong' : `${findings.filter(({ isOk }) => !isOk).length} to mend`,
  ]);
  return isWell ? exitCodes.done : exitCodes.refused;
};

async function installation({ env, settings }: Context): Promise<Finding> {
  const dir = dataDirPath({ ...env });
  const pid = await runningSupervisor(dir);
  const check = 'installation on this machine';
  if (pid !== undefined) return { check, isOk: true, found: `runs as process ${pid} over ${dir}` };
  const isElsewhere = settings.ready === undefined;
  return isElsewhere
    ? { check, isOk: true, found: `none runs over ${dir}; the service is ${settings.apiUrl}` }
    : { check, isOk: false, found: `it ended without cleaning up ${dir}`, remedy: 'start it again: npm start' };
}

/** Keys, secrets and tokens of the data folder. */
async function fileModes({ env, settings }: Context): Promise<Finding[]> {
  const dir = dataDirPath({ ...env });
  const names = await readdir(dir).catch(() => []);
  const files = [...names.filter((name) => /\.(json|key)$/.test(name)).map((name) => join(dir, name)), settings.file];
  const open: string[] = [];
  for (const file of new Set(files)) {
    const isThere = await access(file).then(
      () => true,
      () => false,
    );
    if (isThere && (await isOpenToOthers(file))) open.push(file);
  }
  const check = 'files with secrets';
  return open.length === 0
    ? [{ check, isOk: true, found: 'only their user may read them' }]
    : [{ check, isOk: false, found: `others may read ${open.join(', ')}`, remedy: `chmod 600 ${open.join(' ')}` }];
}

const lookAtDatabase = 'PostgreSQL does not answer: look at DATABASE_URL, or at .bursar/logs';
const remedies: Readonly<Record<string, string>> = {
  database: lookAtDatabase,
  temporal: 'Temporal does not answer: approvals and payments wait until it does; look at TEMPORAL_ADDRESS',
  relay: 'no worker runs, or it does not get on: look at its log',
  webhookPoller: 'no worker delivers webhooks: look at its log and at BURSAR_WORKER_LOOPS',
  sealer: 'no worker seals the ledger: look at its log and at BURSAR_WORKER_LOOPS',
  eventFeed:
    'a transaction on the table of events stays open, and no event appears meanwhile: find it by the query of docs/webhooks.md',
  sanctions: 'the sanctions list cannot be read: look at BURSAR_SANCTIONS_FILE',
};

const health = z.object({ status: z.string(), version: z.string(), checks: z.record(z.string(), z.string()) });

/** A service that takes a connection and says nothing is found out soon. */
const inTime = () => ({ signal: AbortSignal.timeout(15_000) });

async function service({ api, settings }: Context): Promise<Finding[]> {
  try {
    const { status, version, checks } = health.parse(
      await api.call('GET', '/health', { as: 'anonymous', ...inTime() }),
    );
    return [
      { check: 'service', isOk: status !== 'down', found: `${settings.apiUrl}, version ${version}, ${status}` },
      ...Object.entries(checks).map(([name, state]) => ({
        check: name,
        // One role for everything is a choice on a developer's machine.
        isOk: state === 'ok' || name === 'databaseRoles',
        found: state,
        ...(remedies[name] === undefined ? {} : { remedy: remedies[name] }),
      })),
    ];
  } catch (error) {
    const check = 'service';
    if (error instanceof Refusal && error.status === 503) {
      const found = `${settings.apiUrl} answers 503: it does not reach its database`;
      return [{ check, isOk: false, found, remedy: lookAtDatabase }];
    }
    if (error instanceof CommandError && error.exitCode === exitCodes.away && !(await isTaken(settings.apiUrl))) {
      const remedy = 'start it with npm start, or name it with --api or BURSAR_API_URL';
      return [{ check, isOk: false, found: error.message, remedy }];
    }
    const remedy =
      'if it is Bursar, look at its log; else stop it, choose another port with PORT, or name another service with --api';
    const found = `what listens at ${settings.apiUrl} does not answer as Bursar does`;
    return [{ check, isOk: false, found, remedy }];
  }
}

async function credentials({ api, settings }: Context): Promise<Finding[]> {
  const of = async (check: string, ask: () => Promise<string>, remedy: string): Promise<Finding> => {
    try {
      return { check, isOk: true, found: await ask() };
    } catch (error) {
      const isAway = !(error instanceof Refusal);
      return { check, isOk: false, found: (error as Error).message, remedy: isAway ? 'first the service' : remedy };
    }
  };
  const owner = async () => {
    await api.call('GET', '/limits', inTime());
    return 'accepted';
  };
  const agent = async () => {
    const { id, status } = await api.call<Agent>('GET', `/agents/${settings.kept.agentId}`, {
      as: 'agent',
      ...inTime(),
    });
    return `accepted, of agent ${id} (${status})`;
  };
  return [
    ...(settings.ownerKey === undefined
      ? [{ check: 'API key', isOk: true, found: 'none; the commands of an owner need BURSAR_API_KEY' }]
      : [await of('API key', owner, 'set BURSAR_API_KEY to a key of this service')]),
    ...(settings.agentToken === undefined || settings.kept.agentId === undefined
      ? [{ check: 'agent token', isOk: true, found: 'none; bursar init makes one' }]
      : [await of('agent token', agent, 'make another: bursar init')]),
  ];
}

type Subscriptions = {
  readonly data: readonly { readonly id: string; readonly status: string; readonly disabledReason: string | null }[];
};

/** An owner has at most 20 of them: one page. */
async function webhooks({ api, settings }: Context): Promise<Finding[]> {
  if (settings.ownerKey === undefined) return [];
  // Without the service, or with a wrong key, an earlier line says so.
  const { data } = await api.call<Subscriptions>('GET', '/webhooks?limit=100', inTime()).catch(() => ({ data: [] }));
  const remedy = 'mend the receiver, then delete the subscription and make another: POST /webhooks';
  const ended = data.filter(({ status }) => status === 'disabled');
  return ended.map(({ id, disabledReason }) => ({
    check: `webhook ${id}`,
    isOk: false,
    found: `is disabled: ${disabledReason ?? 'its receiver failed for long'}`,
    remedy,
  }));
}
