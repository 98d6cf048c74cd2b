/**
 * The adapter for every merchant that sells by HTTP 402. A merchant is not trusted: each address is guarded, each answer
 * is limited in size and time, and a redirect is followed only while no payment is sent. Tools are called by mcp-tool.ts.
 * @module
 */
import {
  type FirstAnswer,
  type PaidResource,
  type PresentedAnswer,
  presentationTimeoutMs,
  type UnpayableReason,
} from '../../domains/payments/mpp-payments/paid-resource.port.ts';
import type { Outbound, OutboundAnswer } from '../../outbound/outbound.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';
import { offersX402 } from '../x402-offer.ts';
import { createPaidTool } from './mcp-tool.ts';

/** The same headers on both requests: a merchant may answer other ones with another price. */
const headers = { Accept: 'application/json, */*;q=0.8', 'Accept-Payment': 'card/charge' };

const requestTimeoutMs = 6_000;
/** The answer to the first request is read only to recognise another payment protocol. */
const firstBodyBytes = 64 * 1024;
const mostBodyBytes = 5 * 1024 * 1024;
const mostRedirects = 5;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

type Options = {
  readonly outbound: Outbound;
  /** Whether the answer of a tool demands a payment. */
  readonly demandsPayment: (mcpAnswer: unknown) => boolean;
};

export function createPaidResource({ outbound, demandsPayment }: Options): PaidResource {
  const paidTool = createPaidTool({ outbound, demandsPayment, requestTimeoutMs, presentationTimeoutMs });
  return {
    async request(url, signer, tool) {
      if (tool !== undefined) return paidTool.request(url, tool, signer);
      let at = url;
      const signature = signer && ({ signer, purpose: 'browse' } as const);
      const until = Date.now() + requestTimeoutMs;
      for (let followed = 0; followed <= mostRedirects; followed++) {
        const timeoutMs = Math.max(1, until - Date.now());
        const limits = { timeoutMs, maxBytes: firstBodyBytes, requireHttps: true, isRepeatable: true };
        const answer = await outbound.request(at, { method: 'GET', headers, signature, ...limits }).catch(unanswered);
        if (answer instanceof OutboundError) return unpayable(whyUnanswered(answer, followed), null);
        const next = redirects.includes(answer.status) ? locationOf(answer, at) : undefined;
        if (next === undefined) return firstAnswer(at, answer);
        at = next;
      }
      return unpayable('too_many_redirects', null);
    },

    async present(presentation) {
      const { url, header, signer, tool } = presentation;
      if (tool !== undefined) return paidTool.present(presentation, tool);
      const signature = signer && ({ signer, purpose: 'pay' } as const);
      const limits = { timeoutMs: presentationTimeoutMs, maxBytes: mostBodyBytes, requireHttps: true } as const;
      const paid = { ...headers, [header.name]: header.value };
      const answer = await outbound
        .request(url, { method: 'GET', headers: paid, signature, acceptsPartialBody: true, ...limits })
        .catch(unanswered);
      return answer instanceof OutboundError ? notAnswered(answer) : presentedAnswer(answer);
    },
  };
}

/** No answer is an expected outcome; whatever else was thrown is a bug and stays one. */
function unanswered(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  throw error;
}

const unpayable = (reason: UnpayableReason, status: number | null): FirstAnswer => ({
  outcome: 'unpayable',
  reason,
  status,
});

function whyUnanswered({ kind }: OutboundError, followed: number): UnpayableReason {
  if (kind !== 'refused_address') return 'unreachable';
  return followed === 0 ? 'address_refused' : 'redirect_refused';
}

/** Where the merchant sends the request on to; undefined where it names no address. */
function locationOf(answer: OutboundAnswer, from: string): string | undefined {
  const [location, ...others] = answer.linesOf('location');
  return location === undefined || others.length > 0 ? undefined : URL.parse(location, from)?.href;
}

function firstAnswer(url: string, answer: OutboundAnswer): FirstAnswer {
  if (answer.status !== 402) return unpayable('not_payment_required', answer.status);
  const authenticate = answer.linesOf('www-authenticate');
  return { outcome: 'payment_required', url, authenticate, offersX402: offersX402(answer) };
}

function notAnswered({ isUnsent, kind }: OutboundError): PresentedAnswer {
  if (!isUnsent) return { outcome: 'no_answer' };
  return { outcome: 'unsent', reason: kind === 'refused_address' ? 'address_refused' : 'unreachable' };
}

function presentedAnswer(answer: OutboundAnswer): PresentedAnswer {
  const [receipt = null, ...others] = answer.linesOf('payment-receipt');
  return {
    outcome: 'answered',
    status: answer.status,
    // Two receipts are none: which of them is meant is unknown.
    receipt: others.length > 0 ? null : receipt,
    body: {
      bytes: answer.bytes,
      contentType: answer.linesOf('content-type')[0] ?? null,
      isTruncated: answer.truncated,
    },
  };
}
