/**
 * An MCP server that sells a tool, played by the test over the merchant's address: in both eras of the protocol, with the
 * challenge in each place that MPP's MCP transport knows. Independent of the product's code for the wire format.
 * @module
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { PayingMerchant, Presentation } from './paying-merchant.ts';

/** `error`: -32042; `changed error`: what becomes of it in the protocol of 2026; `metadata`: in the result. */
export const places = ['error', 'changed error', 'metadata'] as const;
export type Place = (typeof places)[number];

export const eras = ['2026', 'with a handshake'] as const;
export type Era = (typeof eras)[number];

type Message = {
  readonly id?: number;
  readonly method: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: unknown;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
};
type Credential = { readonly challenge: Record<string, unknown>; readonly payload: Record<string, unknown> };

export type SoldCall = { readonly name: string | undefined; readonly arguments: unknown; readonly isPaid: boolean };

type Selling = {
  readonly merchant: PayingMerchant;
  readonly era: Era;
  readonly place: Place;
  /** Charges the credential; its answer is the rest of the JSON-RPC message. */
  readonly charge: (presented: Presentation) => Promise<object>;
  /** Of the challenge. */
  readonly challenge?: Parameters<PayingMerchant['challenge']>[0];
};

export function sellTools({ merchant, era, place, charge, challenge }: Selling): { readonly calls: SoldCall[] } {
  const calls: SoldCall[] = [];
  const session = 'the-session';
  const answerTo = async ({ method, params }: Message): Promise<object> => {
    if (method === 'initialize')
      return { result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'm', version: '1' } } };
    if (method === 'server/discover') return { result: { supportedVersions: ['2026-07-28'], capabilities: {} } };
    if (method !== 'tools/call') return { error: { code: -32_601, message: 'no such method' } };
    const credential = params?._meta?.['org.paymentauth/credential'] as Credential | undefined;
    calls.push({ name: params?.name, arguments: params?.arguments, isPaid: credential !== undefined });
    if (credential === undefined) return demandAt(place, jsonChallenge(merchant.challenge(challenge)));
    const header = `Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}`;
    return charge(await merchant.open(header));
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const message = (await json(request)) as Message;
    const isModern = request.headers['mcp-protocol-version'] === '2026-07-28';
    const isKnown = message.method === 'initialize' || request.headers['mcp-session-id'] === session;
    if (era === '2026' ? !isModern : isModern || !isKnown) {
      response.writeHead(400, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'not so' } }));
      return;
    }
    if (message.id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const text = JSON.stringify({ jsonrpc: '2.0', id: message.id, ...(await answerTo(message)) });
    if (era === '2026') response.writeHead(200, { 'Content-Type': 'application/json' }).end(text);
    else
      response
        .writeHead(200, { 'Content-Type': 'text/event-stream', 'Mcp-Session-Id': session })
        .end(`: begins\n\nevent: message\ndata: ${text}\n\n`);
  };
  const listener: RequestListener = (request, response) => {
    respond(request, response).catch((error: Error) => response.destroy(error));
  };
  merchant.respondsWith(listener);
  return { calls };
}

export function demandAt(place: Place, challenge: object): object {
  const demand = { httpStatus: 402, challenges: [challenge] };
  if (place === 'metadata')
    return { result: { content: [], _meta: { 'org.paymentauth/payment-required': demand }, isError: true } };
  return { error: { code: place === 'error' ? -32_042 : -32_603, message: 'Payment Required', data: demand } };
}

/** A header's challenge as JSON-RPC has it. */
export function jsonChallenge(header: string): object {
  const parameters = Object.fromEntries(
    [...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
  return { ...parameters, request: JSON.parse(Buffer.from(String(parameters.request), 'base64url').toString()) };
}

/** What a tool answers that was paid. */
export const soldResult = (challengeId: string): object => ({
  result: {
    content: [{ type: 'text', text: 'the report' }],
    _meta: {
      'org.paymentauth/receipt': {
        ...{ challengeId, method: 'card', reference: 'auth_1', status: 'success' },
        timestamp: '2026-03-01T12:00:00Z',
      },
    },
  },
});
