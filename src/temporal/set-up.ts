/**
 * Creates the missing namespace (retention 30 days) and search attributes, and waits until a workflow start is
 * accepted. Does not change an existing namespace of others; without permission to add attributes it names the missing
 * ones. Safe to run at every start.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { connect } from './connect.ts';
import { filterAttributes, probeOf } from './filter-attributes.ts';
import type { TemporalSecurity } from './security.ts';

export type TemporalSetup = {
  address: string;
  namespace: string;
  security?: TemporalSecurity;
  /** The server is our own development server, which makes its namespace itself and keeps runs for one day. */
  isOwnServer?: boolean;
};

/** Answers in one line what it found and did. */
export async function setUpTemporal({
  address,
  namespace,
  security = {},
  isOwnServer = false,
}: TemporalSetup): Promise<string> {
  const connection = await retried(60, () => connect({ address, ...security, connectTimeout: '5 seconds' }));
  try {
    const done = [
      await ensureNamespace(connection, namespace, isOwnServer),
      await ensureSearchAttributes(connection, namespace, filterAttributes()),
    ];
    await untilStartsAreAccepted(connection, namespace);
    return `temporal ${address}: namespace ${namespace} ${done.join(', ')}`;
  } finally {
    await connection.close();
  }
}

const retentionSeconds = 30 * 24 * 3_600;

/** gRPC's numbers, as the SDK passes them on. */
const status = {
  invalidArgument: 3,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  unimplemented: 12,
  unavailable: 14,
};

async function ensureNamespace(connection: Connection, namespace: string, isOwnServer: boolean): Promise<string> {
  const { workflowService } = connection;
  const retention = { workflowExecutionRetentionTtl: duration(retentionSeconds) };
  try {
    const found = await retried(60, () => workflowService.describeNamespace({ namespace }), [status.notFound]);
    const seconds = Number(found.config?.workflowExecutionRetentionTtl?.seconds ?? 0);
    if (seconds >= retentionSeconds || !isOwnServer) return retentionInWords(seconds);
    await workflowService.updateNamespace({ namespace, config: retention });
    return 'now keeps runs 30 days';
  } catch (error) {
    if (isForbidden(error)) return 'does not tell how long it keeps runs';
    if (codeOf(error) !== status.notFound) throw error;
  }
  return made(connection, namespace);
}

/** How long an operator finds a run in Temporal after its end; PostgreSQL keeps everything. */
function retentionInWords(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  if (seconds >= retentionSeconds) return `keeps runs ${days} days`;
  return `keeps runs only ${days} ${days === 1 ? 'day' : 'days'}: 30 are better, change it where it was made`;
}

async function made({ workflowService }: Connection, namespace: string): Promise<string> {
  const workflowExecutionRetentionPeriod = duration(retentionSeconds);
  try {
    await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  } catch (error) {
    if (isForbidden(error)) {
      throw new Error(
        `there is no Temporal namespace ${namespace}, and making one is not permitted here: make it first`,
      );
    }
    if (codeOf(error) !== status.alreadyExists) throw error;
  }
  return 'made (keeps runs 30 days)';
}

/** Typed as a Long, whose package is not ours; what is sent takes a number. */
const duration = (seconds: number) => ({ seconds: seconds as never });

async function ensureSearchAttributes(
  connection: Connection,
  namespace: string,
  wanted: Record<string, string>,
): Promise<string> {
  const { operatorService } = connection;
  const names = Object.keys(wanted);
  const all = `has all ${names.length} search attributes`;
  try {
    // A namespace made a moment ago is not known everywhere for about 2 s.
    const { customAttributes } = await retried(60, () => operatorService.listSearchAttributes({ namespace }));
    const missing = Object.entries(wanted).filter(([name]) => !(name in customAttributes));
    const added = Object.fromEntries(missing.map(([name, type]) => [name, indexedValueType(type)]));
    if (missing.length > 0) {
      await retried(60, () => operatorService.addSearchAttributes({ namespace, searchAttributes: added }));
    }
    const lacking = await lackingAttributes(connection, namespace, names, 60);
    if (lacking.length > 0) throw new Error(howToAdd(namespace, lacking));
    return missing.length === 0 ? all : `search attributes added: ${missing.map(([name]) => name).join(' ')}`;
  } catch (error) {
    if (!isForbidden(error)) throw error;
  }
  // Workflows run without them too; only the operators' filters are missing.
  const lacking = await lackingAttributes(connection, namespace, names, 4);
  return lacking.length === 0 ? all : howToAdd(namespace, lacking);
}

function howToAdd(namespace: string, lacking: readonly string[]): string {
  const types = filterAttributes();
  const named = lacking.map((name) => `${name} (${types[name]})`).join(', ');
  const command = `temporal operator search-attribute create --namespace ${namespace} --type … --name …`;
  return `lacks the search attributes ${named}: add them with \`${command}\` or in your cluster's console`;
}

/** The frontend sees new attributes only after its next refresh; a query naming one is refused until then. */
async function lackingAttributes(
  { workflowService }: Connection,
  namespace: string,
  names: readonly string[],
  attempts: number,
): Promise<string[]> {
  let missing = [...names];
  for (let attempt = 0; attempt < attempts && missing.length > 0; attempt += 1) {
    if (attempt > 0) await sleep(250);
    const usable = await Promise.all(
      missing.map(async (name) => {
        try {
          await workflowService.countWorkflowExecutions({ namespace, query: probeOf(name) });
          return true;
        } catch (error) {
          const expected = [status.invalidArgument, status.notFound, status.unavailable];
          if (!expected.includes(codeOf(error) ?? -1)) throw error;
          return false;
        }
      }),
    );
    missing = missing.filter((_, index) => !usable[index]);
  }
  return missing;
}

/** A namespace that answers may still refuse starts for a moment. The probe runs nowhere and is removed again. */
async function untilStartsAreAccepted({ workflowService }: Connection, namespace: string): Promise<void> {
  const workflowId = `bursar-setup-probe/${randomUUID()}`;
  await retried(60, () =>
    workflowService.startWorkflowExecution({
      namespace,
      workflowId,
      workflowType: { name: 'bursar-setup-probe' },
      taskQueue: { name: 'bursar-setup-probe' },
      workflowRunTimeout: duration(60),
      requestId: randomUUID(),
      identity: 'bursar-setup',
    }),
  );
  try {
    await workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
  } catch (error) {
    // It ends after a minute.
    if (!isForbidden(error) && codeOf(error) !== status.notFound) throw error;
  }
}

/** Repeats what fails because the server is starting or has not heard of the namespace yet. */
async function retried<T>(attempts: number, call: () => Promise<T>, final: number[] = []): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const code = codeOf(error);
      const isFinal =
        code !== undefined && (final.includes(code) || ![status.notFound, status.unavailable].includes(code));
      if (isFinal || attempt >= attempts) throw error;
      await sleep(250);
    }
  }
}

function isForbidden(error: unknown): boolean {
  return [status.permissionDenied, status.unimplemented].includes(codeOf(error) ?? -1);
}

function codeOf(error: unknown): number | undefined {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === 'number') return code;
  return cause ? codeOf(cause) : undefined;
}

/** The numbers of temporal.api.enums.v1.IndexedValueType. */
function indexedValueType(name: string): number {
  const number = ['Text', 'Keyword', 'Int', 'Double', 'Bool', 'Datetime', 'KeywordList'].indexOf(name) + 1;
  if (number === 0) throw new Error(`search-attributes.json names the unknown type ${name}`);
  return number;
}
