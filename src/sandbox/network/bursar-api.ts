/**
 * What the sandbox asks of Bursar: signed network messages, and the business clock. An answer of any status is
 * returned; no answer at all is `undefined`, for the caller to decide about.
 * @module
 */
import type { pino } from 'pino';
import { z } from 'zod';
import type { Outbound } from '../../outbound/outbound.ts';
import { networkSignature } from './network-signature.ts';

export type NetworkAnswer = { status: number; text: string };

export type BursarApi = {
  send(
    kind: 'authorizations' | 'clearings' | 'reversals',
    rawBody: string,
    timeoutMs: number,
  ): Promise<NetworkAnswer | undefined>;
  /** Business time as epoch ms, by an offset read at most `maxAgeMs` ago; undefined while it cannot be read. */
  businessNowMs(maxAgeMs?: number): Promise<number | undefined>;
};

export type BursarApiOptions = {
  apiUrl: string;
  networkKey: string;
  dashboardSecret: string;
  outbound: Outbound;
  log: pino.Logger;
};

const ClockAnswer = z.object({ offsetMs: z.number().int().nonnegative() });
const maxBytes = 64 * 1024;

export function createBursarApi({ apiUrl, networkKey, dashboardSecret, outbound, log }: BursarApiOptions): BursarApi {
  let lastRead = { offsetMs: 0, atMs: 0 };
  const remember = ({ offsetMs }: { offsetMs: number }): number => {
    lastRead = { offsetMs, atMs: Date.now() };
    return offsetMs;
  };

  return {
    async send(kind, rawBody, timeoutMs) {
      const signature = networkSignature(networkKey, rawBody, Math.floor(Date.now() / 1000));
      const headers = { 'Content-Type': 'application/json', 'X-Network-Signature': signature };
      try {
        const url = new URL(`/network/${kind}`, apiUrl).href;
        return await outbound.request(url, {
          method: 'POST',
          headers,
          body: rawBody,
          timeoutMs,
          maxBytes,
          isRepeatable: true,
        });
      } catch (error) {
        log.info({ kind, error: messageOf(error) }, 'Bursar did not answer');
        return undefined;
      }
    },

    async businessNowMs(maxAgeMs = 0) {
      if (maxAgeMs > 0 && Date.now() - lastRead.atMs < maxAgeMs) return Date.now() + lastRead.offsetMs;
      try {
        const url = new URL('/sandbox/clock', apiUrl).href;
        const headers = { 'X-Dashboard-Secret': dashboardSecret };
        const answer = await outbound.request(url, {
          method: 'GET',
          headers,
          timeoutMs: 1_000,
          maxBytes,
          isRepeatable: true,
        });
        if (answer.status === 404) return Date.now(); // A deployment without a movable clock runs on real time.
        if (answer.status === 200) return Date.now() + remember(ClockAnswer.parse(JSON.parse(answer.text)));
        log.warn({ status: answer.status }, 'Bursar refused to tell its business time');
      } catch (error) {
        log.info({ error: messageOf(error) }, 'Bursar did not tell its business time');
      }
      return undefined;
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
