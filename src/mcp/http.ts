/**
 * MCP over HTTP (Streamable HTTP, stateless, the protocol of 2026 and those before it) as a protocol of the API.
 * @module
 */

import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type Server } from '@modelcontextprotocol/server';
import { parseJson } from '../http/body.ts';
import { createOwnPages } from '../http/own-pages.ts';
import type { Protocol, ProtocolRequest } from '../http/protocol.ts';
import { DomainError } from '../kernel/errors.ts';
import type { Logger } from '../platform/log.ts';
import { waitSlots } from '../platform/wait-slots.ts';
import { catalogFor } from './catalog.ts';
import { servedOperations } from './operations.ts';
import { type Serving, serverFor } from './server.ts';

type Options = {
  readonly version: string;
  readonly publicUrl: string;
  /** Further names of this service, as `Host` headers have them. */
  readonly hosts: readonly string[];
  readonly log: Logger;
};

export type McpProtocol = Protocol & {
  /** Answers every waiting call, because the process ends. */
  stop(): void;
};

export function mcpProtocol({ version, publicUrl, hosts, log }: Options): McpProtocol {
  const stopping = new AbortController();
  const takeWait = waitSlots();
  return {
    name: 'mcp',
    paths: ['/mcp', '/api/mcp'],
    assertOrigin: createOwnPages({ publicUrl, hosts }),
    stop: () => stopping.abort(),
    serve: ({ areas, openapi, call }) => {
      const described = { served: servedOperations(areas), openapi };
      const catalogs = { key: catalogFor('key', described), agent: catalogFor('agent', described) };
      const serving = { version, served: described.served, catalogs, call, log, takeWait, stopping: stopping.signal };
      const handler = createMcpHandler(({ authInfo }) => serverOf(serving, authInfo?.extra), {
        onerror: (error) => log.debug({ err: error }, 'mcp'),
      });
      const answer = toNodeHandler(handler, { onerror: (error) => log.error({ err: error }, 'bug') });
      return async ({ request, response, caller, rawBody, noteRefused }) => {
        const message = messageIn(rawBody, request, response);
        if (message === undefined) return;
        const extra: Extra = { request, caller, noteRefused };
        // The SDK is not given the token: the calls carry the request's own header.
        Object.assign(request, { auth: { token: '', clientId: caller.kind, scopes: [], extra } });
        await answer(request as Request, response, message);
      };
    },
  };
}

type Request = Parameters<ReturnType<typeof toNodeHandler>>[0];
type Incoming = ProtocolRequest['request'];
type Outgoing = ProtocolRequest['response'];
type Extra = Pick<ProtocolRequest, 'request' | 'caller' | 'noteRefused'>;

function serverOf(serving: Serving, extra: Readonly<Record<string, unknown>> | undefined): Server {
  return serverFor(serving, extra as unknown as Extra);
}

/** Undefined where it was answered: a client of JSON-RPC reads its own form of errors. */
function messageIn(rawBody: Uint8Array, { headers }: Incoming, response: Outgoing): object | undefined {
  try {
    const message = parseJson(rawBody, headers['content-type']);
    if (typeof message === 'object' && message !== null && !Array.isArray(message)) return message;
    refuse(response, -32600, 'send one JSON-RPC message, as a JSON object');
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    refuse(response, -32700, error.message);
  }
  return undefined;
}

function refuse(response: Outgoing, code: number, message: string): void {
  response.statusCode = 400;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }));
}
