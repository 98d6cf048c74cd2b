/**
 * Makes sure of the namespace (retention 30 days) and of the search attributes operators filter by, and waits until
 * they are usable. Adds what is missing, removes nothing; safe to run at every start.
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Connection } from '@temporalio/client';
import { type TemporalSecurity, temporalSecurity } from '../temporal/security.ts';
import { searchAttributes } from './local/temporal-server.ts';

export type TemporalSetup = { address: string; namespace: string; security?: TemporalSecurity };

/** Answers in one line what it found and did. */
export async function setUpTemporal({ address, namespace, security = {} }: TemporalSetup): Promise<string> {
  const connection = await connect(address, security);
  try {
    const done = [
      await ensureNamespace(connection, namespace),
      await ensureSearchAttributes(connection, namespace, searchAttributes()),
    ];
    await untilUsable(connection, namespace, Object.keys(searchAttributes()));
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

async function connect(address: string, security: TemporalSecurity): Promise<Connection> {
  return retried(60, () => Connection.connect({ address, ...security, connectTimeout: '5 seconds' }));
}

async function ensureNamespace({ workflowService }: Connection, namespace: string): Promise<string> {
  // Typed as a Long, whose package is not ours; what is sent takes a number.
  const config = { workflowExecutionRetentionTtl: { seconds: retentionSeconds as never } };
  try {
    const found = await retried(60, () => workflowService.describeNamespace({ namespace }), [status.notFound]);
    if (Number(found.config?.workflowExecutionRetentionTtl?.seconds ?? 0) === retentionSeconds)
      return 'keeps runs 30 days';
    return await updated(() => workflowService.updateNamespace({ namespace, config }));
  } catch (error) {
    if (codeOf(error) !== status.notFound) throw error;
  }
  try {
    await workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: config.workflowExecutionRetentionTtl,
    });
  } catch (error) {
    if (codeOf(error) !== status.alreadyExists) throw error;
  }
  return 'made (keeps runs 30 days)';
}

/** Where changing a namespace is somebody else's right (a hosted cluster), its retention stays as it is. */
async function updated(update: () => Promise<unknown>): Promise<string> {
  try {
    await update();
    return 'now keeps runs 30 days';
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return 'keeps its own retention (changing it is not allowed here)';
  }
}

async function ensureSearchAttributes(
  { operatorService }: Connection,
  namespace: string,
  wanted: Record<string, string>,
): Promise<string> {
  try {
    // a namespace made a moment ago is not known everywhere for about 2 s
    const { customAttributes } = await retried(60, () => operatorService.listSearchAttributes({ namespace }));
    const missing = Object.entries(wanted).filter(([name]) => !(name in customAttributes));
    if (missing.length === 0) return `has all ${Object.keys(wanted).length} search attributes`;
    const added = Object.fromEntries(missing.map(([name, type]) => [name, indexedValueType(type)]));
    await retried(60, () => operatorService.addSearchAttributes({ namespace, searchAttributes: added }));
    return `search attributes added: ${missing.map(([name]) => name).join(' ')}`;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return 'search attributes checked only (the operator API is not allowed here)';
  }
}

/** The frontend sees new attributes only after its next refresh; a query naming one is refused until then. */
async function untilUsable({ workflowService }: Connection, namespace: string, names: string[]): Promise<void> {
  let missing = names;
  for (let attempt = 0; attempt < 60 && missing.length > 0; attempt += 1) {
    if (attempt > 0) await sleep(250);
    const usable = await Promise.all(
      missing.map(async (name) => {
        try {
          await workflowService.countWorkflowExecutions({ namespace, query: `${name} = 'x'` });
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
  if (missing.length > 0) {
    throw new Error(
      `the Temporal namespace ${namespace} lacks the search attributes ${missing.join(', ')} (Keyword): add them ` +
        `with \`temporal operator search-attribute create --namespace ${namespace} --type Keyword --name …\` or in your cluster's console`,
    );
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

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { TEMPORAL_ADDRESS: address = '127.0.0.1:7233', TEMPORAL_NAMESPACE: namespace = 'default' } = process.env;
  const security = temporalSecurity(process.env);
  process.stdout.write(`${await setUpTemporal({ address, namespace, security })}\n`);
}
