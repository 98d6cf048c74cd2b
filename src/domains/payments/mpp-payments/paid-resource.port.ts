/**
 * A resource that is sold by HTTP 402, or a tool of an MCP server, as Bursar requests it: once without a payment, and once with the credential. No
 * behaviour of a merchant makes these calls throw.
 * @module
 */

import type { RequestSigner } from '../../../outbound/request-signer.ts';

export type PaidResource = {
  /** The first request. It carries no payment, and may be repeated. Redirects are followed; each request is signed anew. */
  request(url: string, signer?: RequestSigner, tool?: ToolCall): Promise<FirstAnswer>;
  /** The request with the credential. Never repeated; redirects are answers. */
  present(presentation: Presentation): Promise<PresentedAnswer>;
};

/** A tool of the MCP server at the address, which is sold instead of the address itself. */
export type ToolCall = { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };

export type Presentation = {
  /** The address that made the challenge: the last one, where redirects were followed. */
  readonly url: string;
  /** A secret, like a password. */
  readonly header: { readonly name: string; readonly value: string };
  /** That of the agent; without one, the request is not signed. */
  readonly signer?: RequestSigner | undefined;
  readonly tool?: ToolCall | undefined;
};

export const unpayableReasons = [
  'address_refused',
  'unreachable',
  'redirect_refused',
  'too_many_redirects',
  'not_payment_required',
] as const;
export type UnpayableReason = (typeof unpayableReasons)[number];

export type FirstAnswer =
  | {
      readonly outcome: 'payment_required';
      /** After redirects. */
      readonly url: string;
      /** The lines of `WWW-Authenticate`, as received. */
      readonly authenticate: readonly string[];
      /** The JSON-RPC answer of a tool, which has the challenges instead. */
      readonly mcpAnswer?: unknown;
      /** The merchant offers a payment by x402, a cryptocurrency. */
      readonly offersX402: boolean;
    }
  | { readonly outcome: 'unpayable'; readonly reason: UnpayableReason; readonly status: number | null };

export type PresentedAnswer =
  | {
      readonly outcome: 'answered';
      readonly status: number;
      /** The value of `Payment-Receipt`; null without one. */
      readonly receipt: string | null;
      readonly body: MerchantBody;
    }
  /** The credential has not left Bursar. */
  | { readonly outcome: 'unsent'; readonly reason: 'address_refused' | 'unreachable' }
  /** The merchant may have the credential. */
  | { readonly outcome: 'no_answer' };

export type MerchantBody = {
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
  /** The body was longer than Bursar reads, broke off, or took too long. */
  readonly isTruncated: boolean;
};

/** From the call to the last byte of the answer. */
export const presentationTimeoutMs = 10_000;
