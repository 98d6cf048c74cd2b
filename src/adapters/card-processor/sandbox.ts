/**
 * The adapter for the card processor that the sandbox process simulates: an HTTP client. Refuses every answer without
 * the documented shape, and stores nothing.
 * @module
 */
import * as z from 'zod';
import type { CardProcessor } from '../../domains/cards/cards/card.port.ts';
import { DomainError, unavailable } from '../../kernel/errors.ts';
import type { Outbound, OutboundAnswer } from '../../outbound/outbound.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';

const Card = z.object({
  cardRef: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
  last4: z.string().regex(/^\d{4}$/),
  brand: z.string().min(1).max(32),
  expiryMonth: z.number().int().min(1).max(12),
  expiryYear: z.number().int().min(2020).max(2100),
});
const State = z.object({ cardRef: z.string(), state: z.enum(['active', 'frozen', 'closed']) });
const Token = z.object({
  paymentToken: z.string().regex(/^spt_[A-Za-z0-9_-]{16,200}$/),
  expiresAt: z.iso.datetime({ offset: true }),
});

const timeoutMs = 5_000;
const maxBytes = 16 * 1024;

export type SandboxCardProcessorOptions = { sandboxUrl: string; outbound: Outbound };

export function createSandboxCardProcessor({ sandboxUrl, outbound }: SandboxCardProcessorOptions): CardProcessor {
  const call = async (
    method: 'POST' | 'PUT',
    path: string,
    body: Record<string, unknown>,
    idempotencyKey?: string,
  ): Promise<OutboundAnswer> => {
    const headers = {
      'Content-Type': 'application/json',
      ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
    };
    const url = new URL(`/processor${path}`, sandboxUrl).href;
    const request = { method, headers, body: JSON.stringify(body), timeoutMs, maxBytes, isRepeatable: true };
    const answer = await outbound.request(url, request).catch(processorAway);
    if (answer.status === 422)
      throw new DomainError('idempotency_conflict', 'the card processor knows this key for another order');
    return answer;
  };

  return {
    async issueCard({ cardId, usage, idempotencyKey }) {
      const answer = await call('POST', '/cards', { cardId, usage }, idempotencyKey);
      return read(answer, 201, Card);
    },

    async setCardState({ cardRef, state }) {
      const answer = await call('PUT', `/cards/${encodeURIComponent(cardRef)}/state`, { state });
      const refusal = refusalOf(answer);
      if (refusal !== undefined) return refusal;
      read(answer, 200, State.extend({ cardRef: z.literal(cardRef), state: z.literal(state) }));
      return { outcome: 'set' };
    },

    async mintPaymentToken({ cardRef, merchantId, ceilingCents, expiresAt, idempotencyKey }) {
      const order = { cardRef, merchantId, ceilingCents, expiresAt: expiresAt.toISOString() };
      const answer = await call('POST', '/tokens', order, idempotencyKey);
      const refusal = refusalOf(answer);
      if (refusal !== undefined) return refusal;
      if (isForGood(answer)) return { outcome: 'refused', reason: 'not_accepted' };
      return { outcome: 'minted', ...read(answer, 201, Token) };
    },
  };
}

/** No answer is `unavailable`; whatever else was thrown is a bug and stays one. */
function processorAway(error: unknown): never {
  if (error instanceof OutboundError) throw unavailable('the card processor did not answer', error);
  throw error;
}

function refusalOf({ status }: OutboundAnswer): { outcome: 'refused'; reason: 'unknown_card' | 'closed' } | undefined {
  if (status === 404) return { outcome: 'refused', reason: 'unknown_card' };
  return status === 409 ? { outcome: 'refused', reason: 'closed' } : undefined;
}

/** A refusal of the order itself; 408, 425 and 429 are about the moment. */
const isForGood = ({ status }: OutboundAnswer): boolean =>
  status >= 400 && status < 500 && ![408, 425, 429].includes(status);

function read<S extends z.ZodType>(answer: OutboundAnswer, status: number, shape: S): z.infer<S> {
  if (answer.status !== status) throw unavailable(`the card processor answered ${answer.status} instead of ${status}`);
  const result = shape.safeParse(parsedJson(answer));
  if (!result.success) throw unavailable('the card processor gave an answer of another shape than documented');
  return result.data;
}

function parsedJson({ text, truncated }: OutboundAnswer): unknown {
  try {
    return truncated ? undefined : JSON.parse(text);
  } catch {
    return undefined; // Not JSON: the shape says so.
  }
}
