/**
 * Serves a protocol that is carried over HTTP and is not made of operations, such as MCP. Its requests are admitted like
 * those of operations: rate limit, credential, size. What it does it sends through the application (in-process.ts).
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Express, RequestHandler } from 'express';
import { DomainError } from '../kernel/errors.ts';
import { admit } from './admit.ts';
import { refuse } from './answer.ts';
import { defaultBodyLimitBytes, readBody } from './body.ts';
import type { Caller } from './caller.ts';
import type { EdgeDeps } from './edge.ts';
import { type InProcess, inProcess } from './in-process.ts';
import { refuseMethod } from './mount.ts';
import type { Json } from './openapi-schemas.ts';
import { requestIdOf } from './request-id.ts';
import type { Area, Operation } from './route.ts';

export type BearerCaller = Extract<Caller, { kind: 'key' | 'agent' }>;

export type ProtocolRequest = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: BearerCaller;
  readonly rawBody: Uint8Array;
  /** Notes a refusal that the protocol answers itself, like a refused access. */
  noteRefused(error: DomainError): void;
};

export type Protocol = {
  /** As access is logged. */
  readonly name: string;
  readonly paths: readonly string[];
  /** Throws where the request may not come from where it comes from. */
  readonly assertOrigin: (request: IncomingMessage) => void;
  /** Called once, when the application is made. */
  readonly serve: (application: Application) => (one: ProtocolRequest) => Promise<void>;
};

/** What a protocol may use of the application that it is a part of. */
export type Application = {
  /** Of the operations that this deployment serves. */
  readonly areas: readonly Area[];
  readonly openapi: Json;
  readonly call: InProcess;
};

export function serveProtocol(app: Express, protocol: Protocol, areas: readonly Area[], openapi: Json, deps: EdgeDeps) {
  const operation = admission(protocol);
  const serve = protocol.serve({ areas, openapi, call: inProcess(app) });
  const run: RequestHandler = async (request, response) => {
    let caller: Caller | undefined;
    const onIdentified = (one: Caller): void => {
      caller = one;
    };
    const note = (error: unknown): void => {
      const client = deps.clientOf(request);
      void deps.refusedAccess.trace({ name: protocol.name, operation, request, caller, client, error });
    };
    try {
      const { headers, refused } = await deps.rateLimit(request);
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      if (refused !== undefined) throw refused;
      protocol.assertOrigin(request);
      if (request.method !== 'POST') return refuseMethod(['POST'], request, response, deps.log);
      const requestId = requestIdOf(request);
      const admitted = await admit({ name: protocol.name, operation, request, requestId, onIdentified }, deps);
      if (admitted.kind !== 'key' && admitted.kind !== 'agent')
        throw new DomainError('forbidden', 'send a bearer token');
      const rawBody = await readBody(request, { limitBytes: defaultBodyLimitBytes });
      await serve({ request, response, caller: admitted, rawBody, noteRefused: note });
    } catch (error) {
      note(error);
      refuse(response, error, deps.log);
    }
  };
  for (const path of protocol.paths) app.all(path, run);
}

const admission = ({ name, paths: [path = '/'] }: Protocol): Operation => ({
  method: 'post',
  path,
  summary: name,
  auth: ['key', 'agent'],
  success: { status: 200 },
  refusals: [],
});
