/**
 * The adapter for the card network that the sandbox process simulates: an HTTP client that requests a charge of a card.
 * Refuses every answer without the documented shape, and stores nothing.
 * @module
 */
import * as z from 'zod';
import type { ChargeOutcome, NetworkSimulator } from '../../domains/payments/simulations/simulation.port.ts';
import { unavailable } from '../../kernel/errors.ts';
import type { Outbound, OutboundAnswer } from '../../outbound/outbound.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';

const Purchase = z.object({
  authorizationId: z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/),
  decision: z.enum(['approved', 'partial', 'declined']),
  /** Absent where the network has not heard Bursar's answer. */
  transactionId: z
    .string()
    .regex(/^tx_[a-z0-9]{8,64}$/)
    .optional(),
});

/** Longer than the network waits for Bursar's decision and for its clearing to be taken. */
const timeoutMs = 8_000;
const maxBytes = 16 * 1024;

export type SandboxNetworkOptions = { sandboxUrl: string; outbound: Outbound };

export function createSandboxNetwork({ sandboxUrl, outbound }: SandboxNetworkOptions): NetworkSimulator {
  const url = new URL('/network/purchases', sandboxUrl).href;
  return {
    async charge({ simulationId: simulation, cardRef, amountCents, merchant, idempotencyKey }) {
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey };
      const body = JSON.stringify({ cardRef, amountCents, merchant, simulation });
      const request = { method: 'POST', headers, body, timeoutMs, maxBytes, isRepeatable: true } as const;
      return outcomeIn(await outbound.request(url, request).catch(networkAway));
    },
  };
}

/** No answer is `unavailable`; whatever else was thrown is a bug and stays one. */
function networkAway(error: unknown): never {
  if (error instanceof OutboundError) throw unavailable('the simulated network did not answer', error);
  throw error;
}

function outcomeIn(answer: OutboundAnswer): ChargeOutcome {
  if (answer.status === 404) return { outcome: 'refused', reason: 'unknown_card' };
  if (isForGood(answer)) return { outcome: 'refused', reason: 'not_accepted' };
  if (answer.status !== 200) throw unavailable(`the simulated network answered ${answer.status} instead of 200`);
  const result = Purchase.safeParse(parsedJson(answer));
  if (!result.success) throw unavailable('the simulated network gave an answer of another shape than documented');
  const { authorizationId, transactionId } = result.data;
  return transactionId === undefined
    ? { outcome: 'undecided', authorizationId }
    : { outcome: 'asked', authorizationId, transactionId };
}

/** A refusal of the order itself; 408, 425 and 429 are about the moment. */
const isForGood = ({ status }: OutboundAnswer): boolean =>
  status >= 400 && status < 500 && ![408, 425, 429].includes(status);

function parsedJson({ text, truncated }: OutboundAnswer): unknown {
  try {
    return truncated ? undefined : JSON.parse(text);
  } catch {
    return undefined; // Not JSON: the shape says so.
  }
}
