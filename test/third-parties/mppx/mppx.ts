/**
 * Starts the programs of this folder, which use mppx: another implementation of MPP, installed here with its own
 * lockfile. They run as processes of their own; `close` ends them.
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { openssl } from '../../support/tls.ts';
import { install } from '../install.ts';

/** TLS needs certificates. */
export const schemes: readonly string[] = openssl ? ['http', 'https'] : ['http'];

const folder = fileURLToPath(new URL('.', import.meta.url));

/** npm would add peers of mppx that none of its modules here needs. No package of it has a script to run. */
export const installMppx = (): Promise<void> => install(folder, '--legacy-peer-deps', '--ignore-scripts');

type Program = { readonly child: ChildProcess; close(): Promise<void> };

function start(name: string, argument: object, env: Readonly<Record<string, string>> = {}): Program {
  const child = fork(`${folder}${name}`, [JSON.stringify(argument)], {
    cwd: folder,
    execArgv: [],
    env: { ...process.env, NODE_OPTIONS: '', ...env },
  });
  return {
    child,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/** The first message, or an error where the program ends before it. */
async function firstMessage({ child }: Program): Promise<unknown> {
  const ended = new AbortController();
  const { signal } = ended;
  const exit = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`the program ended with ${String(code)}`);
  });
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), exit])) as [unknown];
    return message;
  } finally {
    exit.catch(() => undefined);
    ended.abort();
  }
}

/** What the merchant received with one credential. */
export type MerchantRecord = {
  readonly path: string;
  readonly challengeId: string;
  readonly payload: Readonly<Record<string, string>>;
  /** Of the header. */
  readonly value: string;
  /** Absent where it was not decrypted. */
  readonly opened?: {
    readonly token: Readonly<Record<string, string>>;
    readonly dynamicData: Readonly<Record<string, unknown>>;
  };
  /** Of the enabler; null where it declined. */
  readonly reference?: string | null;
};

export type MppxMerchant = {
  /** `localhost` over http, and over https where there is a certificate. */
  readonly origins: readonly string[];
  records(path?: string): Promise<readonly MerchantRecord[]>;
  close(): Promise<void>;
};

type MerchantOptions = {
  readonly secretKey: string;
  /** Charges the token of an order (`Charge`). Its answer has a `reference`, or is a refusal. */
  readonly enablerUrl: string;
  readonly recipient: string;
  /** Made at the start where it is absent. */
  readonly privateJwk?: Readonly<Record<string, unknown>>;
  readonly tls?: { readonly key: string; readonly certificate: string } | undefined;
};

export async function startMppxMerchant(options: MerchantOptions): Promise<MppxMerchant> {
  const program = start('merchant.mjs', options);
  const origins = (await firstMessage(program)) as readonly string[];
  return {
    origins,
    async records(path) {
      const all = (await (await fetch(`${origins[0]}/records`)).json()) as MerchantRecord[];
      return path === undefined ? all : all.filter((record) => record.path === path);
    },
    close: program.close,
  };
}

export type MppxPeer = { ask<T>(name: string, argument: object): Promise<T>; close(): Promise<void> };

type Answer = { readonly number: number; readonly value?: unknown; readonly error?: string };

/** `certificateAuthority`: a file, whose certificates the peer trusts besides its own. */
export async function startMppxPeer(certificateAuthority?: string): Promise<MppxPeer> {
  const trust = certificateAuthority === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificateAuthority };
  const program = start('peer.mjs', {}, trust);
  await firstMessage(program);
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  program.child.on('message', ({ number, value, error }: Answer) => {
    const asked = waiting.get(number);
    waiting.delete(number);
    if (error === undefined) asked?.resolve(value);
    else asked?.reject(new Error(error));
  });
  program.child.on('exit', () => {
    for (const asked of waiting.values()) asked.reject(new Error('the peer has ended'));
  });
  let count = 0;
  return {
    ask<T>(name: string, argument: object): Promise<T> {
      const asked = Promise.withResolvers<unknown>();
      const number = ++count;
      waiting.set(number, asked);
      program.child.send({ number, name, argument });
      return asked.promise as Promise<T>;
    },
    close: program.close,
  };
}

export type Charge = { readonly paymentToken: string; readonly amountCents: number; readonly challengeId: string };

/** The merchant's enabler, played by the test. `charge` answers the reference, or undefined for a card declined. */
export async function startEnabler(charge: (order: Charge) => Promise<string | undefined>) {
  const server = createServer((request, response) => {
    const respond = async (): Promise<void> => {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const reference = await charge(JSON.parse(Buffer.concat(chunks).toString()) as Charge);
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ reference }));
    };
    respond().catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
