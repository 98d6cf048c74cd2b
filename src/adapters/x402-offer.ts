/** Recognises an offer of x402, a cryptocurrency, in an answer of 402, so that a refusal can name it. Never pays. @module */
import type { OutboundAnswer } from '../outbound/outbound.ts';

/** Version 1 is named in the body, version 2 by a header. */
export const offersX402 = (answer: Pick<OutboundAnswer, 'linesOf' | 'text'>): boolean =>
  answer.linesOf('payment-required').length > 0 || /"x402Version"\s*:/.test(answer.text);
