/**
 * A client connection that may be created before Temporal runs: it connects on first use and again after a failure. Its
 * epoch (the namespace's id) tells whether the server still has the histories of the runs in PostgreSQL.
 * @module
 */
import { fileURLToPath } from 'node:url';
import { Client, type Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { connect } from './connect.ts';
import type { TemporalSecurity } from './security.ts';

export type TemporalOptions = {
  readonly address: string;
  readonly namespace: string;
  readonly security?: TemporalSecurity | undefined;
};

export type Temporal = {
  /** Throws when the server cannot be reached within a few seconds. */
  client(): Promise<Client>;
  /** The namespace's id; another one means an empty server. */
  epoch(): Promise<string>;
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
};

const connectTimeoutMs = 3_000;
const epochLivesMs = 5_000;
/**
 * Left to itself the channel dials ever more rarely, in the end every two minutes, and a server that is back is away.
 */
const channelArgs = { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': 2_000 };

/** Not when one run has too many updates in flight: to wait for it is the caller's own decision, after a 503. */
const retries = defaultGrpcRetryOptions();
type Interceptor = ReturnType<typeof makeGrpcRetryInterceptor>;
type NextCall = Parameters<Interceptor>[1];

const retried = makeGrpcRetryInterceptor({
  ...retries,
  retryableDecider: (attempt, status) => !isCrowded(status) && retries.retryableDecider(attempt, status),
});

const isCrowded = ({ code, details }: { code: number; details: string }): boolean =>
  code === resourceExhausted && /in-flight|Update-with-Start/i.test(details);
const resourceExhausted = 8;

/**
 * A repetition is begun by a timer, where the error of a channel that was closed meanwhile would end the process. The call
 * fails instead, as one of the library's own does: with an empty message before its status.
 */
const interceptor: Interceptor = (options, nextCall) =>
  retried(options, (each) => {
    try {
      return nextCall(each);
    } catch (error) {
      if (!(error instanceof Error) || !/channel has been shut down/i.test(error.message)) throw error;
      return endedCall;
    }
  });

const cancelled = 1;
const endedCall: ReturnType<NextCall> = {
  start: (metadata, listener) => {
    const status = { code: cancelled, details: 'the connection to Temporal was closed', metadata };
    setImmediate(() => {
      listener?.onReceiveMessage?.(null);
      listener?.onReceiveStatus?.(status);
    });
  },
  cancelWithStatus: () => undefined,
  getPeer: () => '',
  getAuthContext: () => null,
  sendMessageWithContext: () => undefined,
  sendMessage: () => undefined,
  startRead: () => undefined,
  halfClose: () => undefined,
};

export function createTemporal({ address, namespace, security }: TemporalOptions): Temporal {
  let opening: Promise<Connection> | undefined;
  let made: { connection: Connection; client: Client } | undefined;
  /** `until` by the time that passes: a machine's clock that is set back would keep an old epoch. */
  let known: { epoch: string; until: number } | undefined;
  let reading: Promise<string> | undefined;

  const open = async (): Promise<Connection> => {
    opening ??= connect({
      address,
      ...security,
      connectTimeout: connectTimeoutMs,
      channelArgs,
      interceptors: [interceptor],
    });
    try {
      return await opening;
    } catch (error) {
      opening = undefined;
      throw error;
    }
  };

  const describe = async (): Promise<string> => {
    const connection = await open();
    const answer = await connection.withDeadline(Date.now() + connectTimeoutMs, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return answer.namespaceInfo?.id ?? namespace;
  };

  const readEpoch = async (): Promise<string> => {
    const epoch = await describe();
    known = { epoch, until: performance.now() + epochLivesMs };
    return epoch;
  };

  return {
    client: async () => {
      const connection = await open();
      if (made?.connection !== connection) {
        const dataConverter = { payloadConverterPath: converterPath };
        made = { connection, client: new Client({ connection, namespace, dataConverter }) };
      }
      return made.client;
    },
    epoch: async () => {
      if (known !== undefined && known.until > performance.now()) return known.epoch;
      known = undefined;
      reading ??= readEpoch().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    isReachable: async () => {
      try {
        await describe();
        return true;
      } catch (_unreachable) {
        known = undefined; // Being away is an answer here, not a failure; callers that need the server get the error.
        return false;
      }
    },
    close: async () => {
      const connection = await opening?.catch(() => undefined);
      await connection?.close();
    },
  };
}

/** For clients and for a worker's activities; workflows have their own in the bundle. */
export const converterPath = fileURLToPath(new URL('./data-converter.ts', import.meta.url));
