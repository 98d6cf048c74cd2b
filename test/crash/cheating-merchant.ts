/**
 * A merchant that sells by HTTP 402 and cheats. It passes challenges and credentials on to a merchant of the sandbox,
 * which charges, and then lies, keeps silent, charges twice or charges late. It outlives the processes that a test
 * kills, and counts how often each challenge was answered.
 * @module
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';

export const manners = [
  'delivers',
  'charges, then 500',
  'charges, then 402',
  'charges, then hangs up',
  'charges twice at once',
  'delivers, charges late',
  'refuses, charges late',
  'hangs up, charges late',
  'answers after the time limit',
  'delivers, charges nothing',
  'only 500',
  'only hangs up',
] as const;
export type Manner = (typeof manners)[number];

const credential = z.object({ challenge: z.object({ id: z.string() }) });

const lateMs = { least: 500, span: 6_000 };
/** Longer than Bursar waits for a merchant. */
const tooLongMs = 12_000;
const lateTries = 40;

type Forwarded = { readonly status: number; readonly headers: Headers; readonly text: string };

export async function startCheatingMerchant() {
  const presentations = new Map<string, number>();
  const background = new Set<Promise<unknown>>();
  let sandboxUrl = '';

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://merchant');
    const manner = manners[Number(url.pathname.slice(1))];
    const target = `${sandboxUrl}/paid/sandbox-api?amountCents=${url.searchParams.get('amountCents')}`;
    const header = request.headers.authorization;
    const answering = header === undefined ? demand(response, target) : answer(response, { target, header, manner });
    void answering.catch(() => response.destroy()); // The sandbox is down: no one gets an answer.
  });

  const demand = async (response: ServerResponse, target: string) => pass(response, await forward(target));

  async function answer(
    response: ServerResponse,
    { target, header, manner }: { target: string; header: string; manner: Manner | undefined },
  ): Promise<unknown> {
    const { id } = credential.parse(JSON.parse(Buffer.from(header.slice(8), 'base64url').toString())).challenge;
    presentations.set(id, (presentations.get(id) ?? 0) + 1);
    const charge = () => forward(target, header);
    switch (manner) {
      case 'charges, then 500':
        await charge();
        return response.writeHead(500).end('oops');
      case 'charges, then 402':
        await charge();
        return demand(response, target);
      case 'charges, then hangs up':
        await charge();
        return response.destroy();
      case 'charges twice at once':
        return pass(response, (await Promise.all([charge(), charge()]))[0]);
      case 'delivers, charges late':
        later(charge);
        return response.writeHead(200).end('{}');
      case 'refuses, charges late':
        later(charge);
        return demand(response, target);
      case 'hangs up, charges late':
        later(charge);
        return response.destroy();
      case 'answers after the time limit':
        later(charge);
        await sleep(tooLongMs);
        return response.writeHead(200).end('{}');
      case 'delivers, charges nothing':
        return response.writeHead(200).end('{}');
      case 'only 500':
        return response.writeHead(500).end();
      case 'only hangs up':
        return response.destroy();
      default:
        return pass(response, await charge());
    }
  }

  async function forward(target: string, header?: string): Promise<Forwarded> {
    const answered = await fetch(target, header === undefined ? {} : { headers: { Authorization: header } });
    return { status: answered.status, headers: answered.headers, text: await answered.text() };
  }

  const pass = (response: ServerResponse, { status, headers, text }: Forwarded) => {
    const kept = ['www-authenticate', 'payment-receipt', 'content-type', 'cache-control'].flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    return response.writeHead(status, Object.fromEntries(kept)).end(text);
  };

  /** A merchant that wants its money tries again while the sandbox is down. */
  function later(charge: () => Promise<Forwarded>): void {
    const trying = (async () => {
      await sleep(lateMs.least + Math.random() * lateMs.span);
      for (let tries = 0; tries < lateTries; tries++) {
        const charged = await charge().catch(() => undefined);
        if (charged !== undefined && charged.status < 500) return;
        await sleep(500);
      }
    })();
    background.add(trying);
    void trying.finally(() => background.delete(trying));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    sellsFor(url: string): void {
      sandboxUrl = url;
    },
    urlOf: (manner: Manner, amountCents: number) => `${origin}/${manners.indexOf(manner)}?amountCents=${amountCents}`,
    presentations: presentations as ReadonlyMap<string, number>,
    /** Every late charge was made, or given up. */
    isDone: async () => {
      await Promise.all(background);
    },
    /** A late charge is still to come: of a credential that came meanwhile. */
    willCharge: () => background.size > 0,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
export type CheatingMerchant = Awaited<ReturnType<typeof startCheatingMerchant>>;
