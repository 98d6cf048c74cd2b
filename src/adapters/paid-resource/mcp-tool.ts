/**
 * The adapter for a tool of an MCP server that demands a payment (MPP's MCP transport): calls it without a payment, and
 * once with the credential. Which revision of the protocol the server speaks is found out by requests that call nothing,
 * so that the credential leaves once.
 * @module
 */
import type {
  FirstAnswer,
  MerchantBody,
  Presentation,
  PresentedAnswer,
  ToolCall,
} from '../../domains/payments/mpp-payments/paid-resource.port.ts';
import type { Outbound, OutboundAnswer, OutboundSignature } from '../../outbound/outbound.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';
import type { RequestSigner } from '../../outbound/request-signer.ts';

export type PaidTool = {
  request(url: string, tool: ToolCall, signer?: RequestSigner): Promise<FirstAnswer>;
  present(presentation: Presentation, tool: ToolCall): Promise<PresentedAnswer>;
};

type Options = {
  readonly outbound: Outbound;
  /** Whether a JSON-RPC answer demands a payment. */
  readonly demandsPayment: (answer: unknown) => boolean;
  readonly requestTimeoutMs: number;
  readonly presentationTimeoutMs: number;
};

type Json = Readonly<Record<string, unknown>>;

/** How the server is spoken to: the headers and the metadata of each request. */
type Dialect = { readonly headers: Readonly<Record<string, string>>; readonly meta: Json };

type How = {
  readonly headers?: Dialect['headers'];
  readonly maxBytes?: number;
  readonly acceptsPartialBody?: boolean;
  readonly isRepeatable?: boolean;
};

type Asking = { readonly url: string; readonly until: number; readonly signature: OutboundSignature | undefined };

const newest = '2026-07-28';
const withHandshake = '2025-11-25';
const client = { name: 'bursar', version: '1' };
const envelope: Json = {
  'io.modelcontextprotocol/protocolVersion': newest,
  'io.modelcontextprotocol/clientInfo': client,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const credentialKey = 'org.paymentauth/credential';
const receiptKey = 'org.paymentauth/receipt';

/** What a paid call delivers may be long; a challenge, or the answer to a handshake, is short. */
const mostBytes = 5 * 1024 * 1024;
const mostUnpaidBytes = 64 * 1024;
/** Of a stream. */
const mostEvents = 1_000;

export function createPaidTool(options: Options): PaidTool {
  const { outbound, demandsPayment } = options;

  async function post({ url, until, signature }: Asking, message: Json, how: How = {}) {
    const { headers, ...more } = how;
    return outbound.request(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      signature,
      timeoutMs: Math.max(1, until - Date.now()),
      maxBytes: mostUnpaidBytes,
      requireHttps: true,
      ...more,
    });
  }

  /** Calls nothing, so each request may be repeated. Undefined where the address is no MCP server. */
  async function dialectOf(asking: Asking): Promise<Dialect | undefined> {
    const modern = { 'MCP-Protocol-Version': newest };
    const discover = { id: 1, method: 'server/discover', params: { _meta: envelope } };
    const discovered = await post(asking, discover, {
      headers: { ...modern, 'Mcp-Method': discover.method },
      isRepeatable: true,
    });
    const { supportedVersions } = objectIn(messageOf(discovered)?.result);
    if (Array.isArray(supportedVersions) && supportedVersions.includes(newest))
      return { headers: modern, meta: envelope };
    const params = { protocolVersion: withHandshake, capabilities: {}, clientInfo: client };
    const greeted = await post(asking, { id: 1, method: 'initialize', params }, { isRepeatable: true });
    const { protocolVersion } = objectIn(messageOf(greeted)?.result);
    if (typeof protocolVersion !== 'string' || !/^[0-9-]{1,20}$/.test(protocolVersion)) return undefined;
    const [session] = greeted.linesOf('mcp-session-id');
    const headers = {
      'MCP-Protocol-Version': protocolVersion,
      ...(session === undefined ? {} : { 'Mcp-Session-Id': session }),
    };
    await post(asking, { method: 'notifications/initialized' }, { headers, isRepeatable: true });
    return { headers, meta: {} };
  }

  function callTool(asking: Asking, tool: ToolCall, { headers, meta }: Dialect, credential?: Json) {
    const _meta = { ...meta, ...(credential === undefined ? {} : { [credentialKey]: credential }) };
    const params = { name: tool.name, arguments: tool.arguments, ...(Object.keys(_meta).length > 0 ? { _meta } : {}) };
    const named = meta === envelope ? { 'Mcp-Method': 'tools/call', 'Mcp-Name': tool.name } : {};
    const paid = credential === undefined ? {} : { maxBytes: mostBytes, acceptsPartialBody: true };
    return post(asking, { id: 2, method: 'tools/call', params }, { headers: { ...headers, ...named }, ...paid });
  }

  return {
    async request(url, tool, signer) {
      const signature = signer && ({ signer, purpose: 'browse' } as const);
      const asking = { url, signature, until: Date.now() + options.requestTimeoutMs };
      const answer = await withoutAnswer(async () => {
        const dialect = await dialectOf(asking);
        return dialect && (await callTool(asking, tool, dialect));
      });
      if (answer instanceof OutboundError)
        return unpayable(answer.kind === 'refused_address' ? 'address_refused' : 'unreachable', null);
      const message = answer && messageOf(answer);
      if (!demandsPayment(message)) return unpayable('not_payment_required', answer?.status ?? null);
      return { outcome: 'payment_required', url, authenticate: [], mcpAnswer: message, offersX402: false };
    },

    async present({ url, header, signer }, tool) {
      const signature = signer && ({ signer, purpose: 'pay' } as const);
      // The credential leaves with at least half of the time before it, or not at all.
      const begun = Date.now();
      const handshake = { url, signature, until: begun + options.presentationTimeoutMs / 2 };
      const asking = { ...handshake, until: begun + options.presentationTimeoutMs };
      const dialect = await withoutAnswer(() => dialectOf(handshake));
      if (dialect === undefined) return { outcome: 'unsent', reason: 'unreachable' };
      if (dialect instanceof OutboundError) return { outcome: 'unsent', reason: reasonOf(dialect) };
      const answer = await withoutAnswer(() => callTool(asking, tool, dialect, credentialIn(header.value)));
      if (!(answer instanceof OutboundError)) return presented(answer, demandsPayment);
      return answer.isUnsent ? { outcome: 'unsent', reason: reasonOf(answer) } : { outcome: 'no_answer' };
    },
  };
}

/** No answer is an expected outcome; whatever else was thrown is a bug and stays one. */
const withoutAnswer = <T>(send: () => Promise<T>): Promise<T | OutboundError> =>
  send().catch((error: unknown) => {
    if (error instanceof OutboundError) return error;
    throw error;
  });

const reasonOf = ({ kind }: OutboundError): 'address_refused' | 'unreachable' =>
  kind === 'refused_address' ? 'address_refused' : 'unreachable';

const unpayable = (reason: 'address_refused' | 'unreachable' | 'not_payment_required', status: number | null) =>
  ({ outcome: 'unpayable', reason, status }) as const;

/** The header's value in the form that a tool takes: JSON, with the challenge's request as the server wrote it. */
function credentialIn(value: string): Json {
  const { challenge, ...rest } = objectIn(decoded(value.replace(/^Payment /, '')));
  const { request, ...parameters } = objectIn(challenge);
  return { ...rest, challenge: { ...parameters, request: decoded(String(request)) } };
}

const decoded = (base64url: string): unknown => JSON.parse(Buffer.from(base64url, 'base64url').toString());

/** As over HTTP: 402 for a refused credential; a failure of the tool leaves open whether it has charged. */
function presented(answer: OutboundAnswer, demandsPayment: Options['demandsPayment']): PresentedAnswer {
  const message = messageOf(answer);
  const { _meta, ...result } = objectIn(message?.result);
  const receipt = objectIn(_meta)[receiptKey];
  const hasReceipt = typeof receipt === 'object' && receipt !== null;
  const isDelivered = message?.result !== undefined && (hasReceipt || result.isError !== true);
  const receiptJson = hasReceipt ? jsonOf(receipt) : undefined;
  const delivered = message?.result === undefined ? undefined : jsonOf(result);
  // Without an answer of the protocol, that of HTTP says what became of the call.
  const isHttpRefusal = message === undefined && (answer.status < 200 || answer.status > 299);
  return {
    outcome: 'answered',
    status: isHttpRefusal ? answer.status : demandsPayment(message) ? 402 : isDelivered ? 200 : 500,
    receipt: receiptJson === undefined ? null : Buffer.from(receiptJson).toString('base64url'),
    body: delivered === undefined ? bodyOf(answer) : jsonBody(delivered),
  };
}

/** Undefined for what is too deep to be written again. */
function jsonOf(value: object): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

const bodyOf = (answer: OutboundAnswer): MerchantBody => ({
  bytes: answer.bytes,
  contentType: answer.linesOf('content-type')[0] ?? null,
  isTruncated: answer.truncated,
});

const jsonBody = (json: string): MerchantBody => ({
  bytes: Buffer.from(json),
  contentType: 'application/json',
  isTruncated: false,
});

/** The JSON-RPC answer, alone or among the events of a stream. Undefined for anything else. */
function messageOf(answer: OutboundAnswer): Json | undefined {
  const isStream = /^text\/event-stream/i.test(answer.linesOf('content-type')[0] ?? '');
  const texts = isStream ? answer.text.split(/\r?\n\r?\n/, mostEvents).map(dataOf) : [answer.text];
  for (const text of texts) {
    const message = text === '' ? undefined : parsed(text);
    if (message !== undefined && ('result' in message || 'error' in message)) return message;
  }
  return undefined;
}

const dataOf = (event: string): string =>
  event
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith('data:') ? [line.slice('data:'.length).trimStart()] : []))
    .join('\n');

function parsed(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined; // A server may answer anything.
  }
}

const objectIn = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
