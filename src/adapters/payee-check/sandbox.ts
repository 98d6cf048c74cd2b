/**
 * The adapter for the payee check of the sandbox's bank: an HTTP client. Every answer without the documented shape is
 * `not_possible`, and so is one that takes longer than five seconds.
 * @module
 */
import * as z from 'zod';
import type { PayeeAnswer, PayeeCheck } from '../../domains/treasury/beneficiaries/payee-check.port.ts';
import type { Outbound, OutboundAnswer } from '../../outbound/outbound.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';

const Answer = z.discriminatedUnion('result', [
  z.object({ result: z.enum(['match', 'no_match']) }),
  z.object({ result: z.literal('close_match'), name: z.string().trim().min(1).max(140) }),
  z.object({ result: z.literal('not_possible') }),
]);

/** A payer waits for it. */
const timeoutMs = 5_000;
const maxBytes = 16 * 1024;

export type SandboxPayeeCheckOptions = { sandboxUrl: string; outbound: Outbound };

export function createSandboxPayeeCheck({ sandboxUrl, outbound }: SandboxPayeeCheckOptions): PayeeCheck {
  const url = new URL('/bank/payee-checks', sandboxUrl).href;
  return {
    async ask({ name, iban, bic }) {
      const body = JSON.stringify({ name, iban, ...(bic === null ? {} : { bic }) });
      const headers = { 'Content-Type': 'application/json' };
      try {
        const request = { method: 'POST', headers, body, timeoutMs, maxBytes, isRepeatable: true } as const;
        return answerIn(await outbound.request(url, request));
      } catch (error) {
        if (error instanceof OutboundError) return unanswered;
        throw error;
      }
    },
  };
}

const unanswered: PayeeAnswer = { result: 'not_possible', reason: 'no_answer' };

function answerIn(answer: OutboundAnswer): PayeeAnswer {
  if (answer.status !== 200) return unanswered;
  const found = Answer.safeParse(parsedJson(answer)).data;
  if (found === undefined) return unanswered;
  if (found.result === 'close_match') return { result: 'close_match', suggestedName: found.name };
  return found.result === 'not_possible' ? { result: 'not_possible', reason: 'not_supported' } : found;
}

function parsedJson({ text, truncated }: OutboundAnswer): unknown {
  try {
    return truncated ? undefined : JSON.parse(text);
  } catch {
    return undefined; // Not JSON: the shape says so.
  }
}
