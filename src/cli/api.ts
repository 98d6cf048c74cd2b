/**
 * Calls of the service by the command. A POST has an idempotency key and is repeated after 429 and 503. With --curl
 * nothing is sent: the call is printed, with the secret as a variable.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { CommandError, exitCodes } from './exit-codes.ts';
import type { Settings } from './settings.ts';

export type As = 'owner' | 'agent' | 'anonymous';
export type Body = Readonly<Record<string, unknown>>;

type Options = {
  readonly as?: As;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Body;
  /** One per purchase, so that a repeat of the command finds it. */
  readonly key?: string;
  /** With --curl: what later calls use instead of the answer. */
  readonly sample?: unknown;
  readonly signal?: AbortSignal | undefined;
};

export type Api = {
  readonly isPrinting: boolean;
  call<T>(method: string, path: string, options?: Options): Promise<T>;
  /** A POST with the dashboard secret. */
  asDashboard<T>(secret: string, path: string, body: Body): Promise<T>;
  /** The same, with another API key. */
  withOwner(ownerKey: string): Api;
};

/** The service said no. */
export class Refusal extends CommandError {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(exitCodes.refused, message);
    this.status = status;
    this.code = code;
  }
}

const maximumTries = 4;

type How = {
  /** With --curl. */
  readonly print?: (line: string) => void;
  /** Ends when the user interrupts the command: what was sent is still answered, and nothing is repeated. */
  readonly ended?: AbortSignal;
};

export function createApi(settings: Settings, how: How = {}): Api {
  const { print, ended } = how;
  const send = async (method: string, path: string, { as = 'owner', headers: more, body, key, signal }: Options) => {
    const token = tokenOf(settings, as);
    const headers = {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
      ...more,
    };
    const init = {
      method,
      headers,
      // A redirect would take the dashboard's secret to another place.
      redirect: 'error' as const,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    };
    try {
      const answer = await fetch(`${settings.apiUrl}${path}`, init);
      return { answer, text: await answer.text() };
    } catch (error) {
      if (signal?.aborted === true) throw error;
      throw new CommandError(exitCodes.away, `${settings.apiUrl} does not answer: is Bursar running? (npm start)`);
    }
  };
  const api: Api = {
    isPrinting: print !== undefined,
    asDashboard: (secret, path, body) =>
      api.call('POST', path, { as: 'anonymous', body, headers: { 'X-Dashboard-Secret': secret }, sample: { key: '' } }),
    withOwner: (ownerKey) => createApi({ ...settings, ownerKey }, how),
    call: async <T>(method: string, path: string, options: Options = {}): Promise<T> => {
      if (print !== undefined) {
        print(curlOf(settings, method, path, options));
        return (options.sample ?? {}) as T;
      }
      const key = options.key ?? (method === 'POST' ? randomUUID() : undefined);
      const sent = { ...options, ...(key === undefined ? {} : { key }) };
      for (let tries = 1; ; tries++) {
        const { answer, text } = await send(method, path, sent);
        if (answer.ok) return (text === '' ? undefined : JSON.parse(text)) as T;
        const isPassing = answer.status === 429 || answer.status === 503;
        if (isPassing && tries < maximumTries && path !== '/health') {
          const seconds = Math.min(Number(answer.headers.get('retry-after') ?? 1), 60);
          await wait(1_000 * seconds, undefined, { signal: ended }).catch(() => undefined);
          if (ended?.aborted !== true) continue;
        }
        const code = answer.headers.get('x-service-error-code') ?? String(answer.status);
        throw new Refusal(answer.status, code, sentenceOf(text) ?? `${method} ${path} answered ${answer.status}`);
      }
    },
  };
  return api;
}

function tokenOf({ ownerKey, agentToken, apiUrl }: Settings, as: As): string | undefined {
  if (as === 'anonymous') return undefined;
  const token = as === 'owner' ? ownerKey : agentToken;
  if (token !== undefined) return token;
  throw new CommandError(
    exitCodes.usage,
    as === 'owner'
      ? `no API key for ${apiUrl}: set BURSAR_API_KEY, or start Bursar on this machine`
      : `no agent token for ${apiUrl}: run bursar init, or set BURSAR_TOKEN`,
  );
}

const variables: Readonly<Record<As, string | undefined>> = {
  owner: '$BURSAR_API_KEY',
  agent: '$BURSAR_TOKEN',
  anonymous: undefined,
};

function curlOf(
  { apiUrl }: Settings,
  method: string,
  path: string,
  { as = 'owner', headers, body, key }: Options,
): string {
  const variable = variables[as];
  return [
    `curl -sS -X ${method} ${quoted(`${apiUrl}${path}`)}`,
    ...(variable === undefined ? [] : [`-H "Authorization: Bearer ${variable}"`]),
    ...(key === undefined ? [] : [`-H ${quoted(`Idempotency-Key: ${key}`)}`]),
    ...(headers === undefined ? [] : ['-H "X-Dashboard-Secret: $BURSAR_DASHBOARD_SECRET"']),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ].join(' ');
}

/** For a POSIX shell; what `variable` made is left for the shell to fill in. */
const quoted = (text: string): string =>
  `'${text.replaceAll("'", `'\\''`).replace(/\u{e000}(\w+)\u{e001}/gu, (_, name: string) => `'"$${name}"'`)}'`;

/** With --curl: stands for a value of an earlier answer, which the shell has in this variable. */
export const variable = (name: string): string => `\u{e000}${name}\u{e001}`;

function sentenceOf(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}
