/**
 * The sandbox's calls to Bursar: signed network messages, and the business clock. An answer of any status is returned;
 * no answer is `undefined`, and the caller decides.
 * @module
 */
import type { pino } from 'pino';
import * as z from 'zod';
import type { Outbound, OutboundRequest } from '../../outbound/outbound.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';
import { parsedJson } from '../wire.ts';
import { fileSignature, type MessageToSign, networkSignature } from './network-signature.ts';

export type NetworkAnswer = { status: number; text: string };

export type BursarApi = {
  send(
    kind: 'authorizations' | 'increments' | 'clearings' | 'reversals' | 'advices' | 'refunds',
    rawBody: string,
    timeoutMs: number,
  ): Promise<NetworkAnswer | undefined>;
  /** The latest message of the network had no answer, or one that says so. */
  isAway(): boolean;
  /** A file of the bank, signed like the messages of the network. */
  sendBankFile(xml: string, timeoutMs: number): Promise<NetworkAnswer | undefined>;
  /** Business time as epoch ms, by an offset read at most `maxAgeMs` ago; undefined while it cannot be read. */
  businessNowMs(maxAgeMs?: number): Promise<number | undefined>;
};

export type BursarApiOptions = {
  apiUrl: string;
  networkKey: string;
  clockKey: string;
  outbound: Outbound;
  log: pino.Logger;
};

const ClockAnswer = z.object({ offsetMs: z.number().int().nonnegative() });
const maxBytes = 64 * 1024;

export function createBursarApi({ apiUrl, networkKey, clockKey, outbound, log }: BursarApiOptions): BursarApi {
  let lastRead = { offsetMs: 0, atMs: 0 };
  let isAway = false;
  /** Undefined when no answer came; whatever else goes wrong is a bug and stays one. */
  const ask = async (path: string, request: Pick<OutboundRequest, 'method' | 'headers' | 'body' | 'timeoutMs'>) => {
    const url = new URL(path, apiUrl).href;
    return outbound.request(url, { ...request, maxBytes, isRepeatable: true }).catch((error: unknown) => {
      if (!(error instanceof OutboundError)) throw error;
      log.warn({ path, kind: error.kind, error: error.message }, 'Bursar did not answer');
      return undefined;
    });
  };

  const toSign = (path: string, rawBody: string): MessageToSign => {
    const requestLine = `POST ${new URL(path, apiUrl).pathname}`;
    return { requestLine, rawBody, unixSeconds: Math.floor(Date.now() / 1000) };
  };

  return {
    async send(kind, rawBody, timeoutMs) {
      const path = `/network/${kind}`;
      const signature = networkSignature(networkKey, toSign(path, rawBody));
      const headers = { 'Content-Type': 'application/json', 'X-Network-Signature': signature };
      const answer = await ask(path, { method: 'POST', headers, body: rawBody, timeoutMs });
      isAway = answer === undefined || answer.status >= 500;
      return answer;
    },
    isAway: () => isAway,
    sendBankFile: (xml, timeoutMs) => {
      const path = '/network/sepa/files';
      const headers = { 'Content-Type': 'application/xml', ...fileSignature(networkKey, toSign(path, xml)) };
      return ask(path, { method: 'POST', headers, body: xml, timeoutMs });
    },

    async businessNowMs(maxAgeMs = 0) {
      if (maxAgeMs > 0 && Date.now() - lastRead.atMs < maxAgeMs) return Date.now() + lastRead.offsetMs;
      const headers = { 'X-Clock-Key': clockKey };
      const answer = await ask('/sandbox/clock', { method: 'GET', headers, timeoutMs: 1_000 });
      if (answer === undefined) return undefined;
      if (answer.status === 404) return Date.now(); // A deployment without a movable clock runs on real time.
      const told = answer.status === 200 ? ClockAnswer.safeParse(parsedJson(answer.text)) : undefined;
      if (told?.success) {
        lastRead = { offsetMs: told.data.offsetMs, atMs: Date.now() };
        return Date.now() + lastRead.offsetMs;
      }
      log.warn({ status: answer.status }, 'Bursar did not tell its business time');
      return undefined;
    },
  };
}
