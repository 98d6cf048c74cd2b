/** An MCP client of a test: raw JSON-RPC over HTTP in both eras, and the official client. @module */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export type ToolAnswer = {
  readonly isError?: boolean;
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly content: readonly { readonly type: string; readonly text: string }[];
};

export type Step = { do: string; tool?: string; arguments?: Record<string, unknown> };
export type Told = { result: Record<string, unknown>; untrusted: string[]; next: Step };
export type Refused = {
  code: string;
  rule: string | null;
  figures: Record<string, unknown>;
  message: string;
  untrusted: string[];
  next: Step;
};

export const latest = '2026-07-28';

/** Sends one message as it is. */
export const post = (url: string, message: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    body: typeof message === 'string' ? message : JSON.stringify(message),
    ...(signal === undefined ? {} : { signal }),
  });

/** The JSON-RPC message of an answer, which older clients get as an event. */
export async function messageOf(
  answer: Response,
): Promise<{ result?: unknown; error?: { code: number; message: string } }> {
  const text = await answer.text();
  const event = /^data: (.+)$/m.exec(text)?.[1];
  return JSON.parse(event ?? text);
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': latest,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Calls a method in the protocol of 2026, or in that before it. */
export async function rpc(
  apiUrl: string,
  token: string,
  method: string,
  params: Record<string, unknown> = {},
  { isOld = false, path = '/mcp' } = {},
) {
  const name = 'name' in params ? params.name : params.uri;
  const headers: Record<string, string> = isOld
    ? { 'MCP-Protocol-Version': '2025-06-18' }
    : {
        'MCP-Protocol-Version': latest,
        'Mcp-Method': method,
        ...(name === undefined ? {} : { 'Mcp-Name': String(name) }),
      };
  const answer = await post(
    `${apiUrl}${path}`,
    { jsonrpc: '2.0', id: 1, method, params: isOld ? params : { ...params, _meta: envelope } },
    { Authorization: `Bearer ${token}`, ...headers },
  );
  return messageOf(answer);
}

/** What a tool answered, checked: text and structured content are the same JSON. */
export async function call<Body = Told>(apiUrl: string, token: string, name: string, args: object = {}): Promise<Body> {
  const { result, error } = await rpc(apiUrl, token, 'tools/call', { name, arguments: args });
  if (error !== undefined) throw new Error(`${name}: ${error.message}`);
  return bodyOf(result as ToolAnswer);
}

/** The code of a tool's refusal, and the id of the request; null where it was not refused. */
export async function refusedByTool(apiUrl: string, token: string, name: string, args: object) {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  const answer = await post(`${apiUrl}/mcp`, message, { Authorization: `Bearer ${token}` });
  const { result } = await messageOf(answer);
  const { isError, content } = result as ToolAnswer;
  const code = isError === true ? (JSON.parse(content[0]?.text ?? 'null') as Refused).code : null;
  return { code, requestId: answer.headers.get('X-Request-Id') };
}

export function bodyOf<Body>({ isError, structuredContent, content }: ToolAnswer): Body {
  const body = JSON.parse(content[0]?.text ?? 'null');
  if (content.length !== 1 || (isError === true) !== (structuredContent === undefined))
    throw new Error('a tool answers with one text, and with structured content unless it refuses');
  if (isError !== true && JSON.stringify(structuredContent) !== content[0]?.text)
    throw new Error('the text is not the JSON of the structured content');
  return body;
}

export async function connect(apiUrl: string, token: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${apiUrl}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    }),
  );
  return client;
}
