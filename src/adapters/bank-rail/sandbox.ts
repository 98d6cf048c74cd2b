/**
 * The adapter for the bank of the sandbox: an HTTP client. Every answer without the documented shape is none, and so is
 * one that takes longer than ten seconds. A payment is sent in one request, which nothing repeats.
 * @module
 */
import * as z from 'zod';
import type { BankRail } from '../../domains/treasury/sepa/bank-rail.port.ts';
import { cents } from '../../kernel/money.ts';
import type { Outbound, OutboundAnswer, OutboundRequest } from '../../outbound/outbound.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';

const Answer = z.discriminatedUnion('status', [
  z.object({ status: z.enum(['submitted', 'accepted', 'settled', 'returned', 'recalled']) }),
  z.object({ status: z.literal('rejected'), reasonCode: z.string().regex(/^[A-Z0-9]{4}$/) }),
]);

/** Within it the bank answers an instant payment. */
const timeoutMs = 10_000;
const maxBytes = 16 * 1024;

export const sandboxBankLimits: BankRail['limits'] = {
  offersInstant: true,
  largestInstantCents: cents(99_999_999_999),
};

export type SandboxBankRailOptions = { sandboxUrl: string; outbound: Outbound };

export function createSandboxBankRail({ sandboxUrl, outbound }: SandboxBankRailOptions): BankRail {
  const pathOf = (endToEndId: string): string => `/bank/payments/${encodeURIComponent(endToEndId)}`;
  const ask = async (path: string, request: Pick<OutboundRequest, 'method' | 'body' | 'isRepeatable'>) => {
    const headers = { 'Content-Type': 'application/json' };
    try {
      return await outbound.request(new URL(path, sandboxUrl).href, { ...request, headers, timeoutMs, maxBytes });
    } catch (error) {
      if (error instanceof OutboundError) return undefined;
      throw error;
    }
  };

  return {
    limits: sandboxBankLimits,
    cutOff: '15:00',

    async send(payment) {
      const answer = await ask('/bank/payments', { method: 'POST', body: JSON.stringify(payment) });
      const found = stateIn(answer);
      if (found === undefined) return { outcome: 'unknown', why: whyNot(answer) };
      if (found.status === 'rejected') return { outcome: 'rejected', reasonCode: found.reasonCode };
      return { outcome: 'taken', status: reached[found.status] };
    },

    async ask(endToEndId) {
      const answer = await ask(pathOf(endToEndId), { method: 'GET', isRepeatable: true });
      if (isNotKnown(answer)) return { outcome: 'not_known' };
      const found = stateIn(answer);
      if (found === undefined) return { outcome: 'no_answer', why: whyNot(answer) };
      if (found.status === 'rejected') return { outcome: 'rejected', reasonCode: found.reasonCode };
      return { outcome: 'known', status: reached[found.status] };
    },

    async recall(endToEndId, reasonCode) {
      const body = JSON.stringify({ reasonCode });
      const answer = await ask(`${pathOf(endToEndId)}/recall`, { method: 'POST', body, isRepeatable: true });
      if (isNotKnown(answer)) return { outcome: 'refused', why: 'does not know the payment' };
      if (answer?.status === 409) return { outcome: 'refused', why: 'has rejected the payment, or its money is back' };
      return stateIn(answer) === undefined ? { outcome: 'no_answer', why: whyNot(answer) } : { outcome: 'requested' };
    },
  };
}

/** Money that is back has settled before. Only a booked entry says that it came back. */
const reached = {
  submitted: 'submitted',
  accepted: 'accepted',
  settled: 'settled',
  returned: 'settled',
  recalled: 'settled',
} as const;

function stateIn(answer: OutboundAnswer | undefined): z.infer<typeof Answer> | undefined {
  return answer?.status === 200 ? Answer.safeParse(parsedJson(answer)).data : undefined;
}

const NotKnown = z.object({ error: z.literal('the bank does not know this payment') });

/** Any server can answer 404; only the bank's own words mean that it has no such payment. */
const isNotKnown = (answer: OutboundAnswer | undefined): boolean =>
  answer?.status === 404 && NotKnown.safeParse(parsedJson(answer)).success;

const whyNot = (answer: OutboundAnswer | undefined): string =>
  answer === undefined ? 'did not answer' : `answered ${answer.status} without what was asked`;

function parsedJson({ text, truncated }: OutboundAnswer): unknown {
  try {
    return truncated ? undefined : JSON.parse(text);
  } catch {
    return undefined; // Not JSON: the shape says so.
  }
}
