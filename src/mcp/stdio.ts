/**
 * MCP over standard input and output, for programs that start their servers themselves: forwards each request to the API's
 * own MCP address with one token, in both eras of the protocol. It has no tools of its own.
 * @module
 */
import { Client, type RequestOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Server, type ServerContext } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

export type StdioOptions = {
  readonly apiUrl: string;
  /** An agent's token, or an owner's key. */
  readonly token: string;
  readonly version: string;
  /** Standard output belongs to the protocol. */
  readonly sayAside: (text: string) => unknown;
};

/** A call may wait for a person, or for a merchant. */
const longestCallMs = 90_000;

/** Resolves with the exit code when standard input ends; 2 where the API cannot be reached, or refuses the token. */
export async function runMcpStdio({ apiUrl, token, version, sayAside }: StdioOptions): Promise<number> {
  const client = new Client({ name: 'bursar-stdio', version });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', apiUrl), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
  try {
    await client.connect(transport);
    await client.listPrompts();
  } catch (error) {
    sayAside(`bursar mcp: ${apiUrl} ${whyNot(error)}\n`);
    return 2;
  }
  const ended = new Promise<void>((resolve) => process.stdin.once('close', resolve).once('end', resolve));
  const handle = serveStdio(() => forwarding(client, version));
  await ended;
  await handle.close();
  await client.close();
  return 0;
}

function whyNot(error: unknown): string {
  const status = (error as { readonly data?: { readonly status?: unknown } } | null)?.data?.status;
  if (status === 401 || isNamed(error, 'UnauthorizedError'))
    return 'refuses the token: it is unknown, expired or revoked';
  return status === undefined ? 'cannot be reached; is it running?' : `answered ${status}`;
}

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.constructor.name === name;

function forwarding(client: Client, version: string): Server {
  const instructions = client.getInstructions();
  const server = new Server(
    { name: 'bursar', title: 'Bursar', version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      ...(instructions === undefined ? {} : { instructions }),
    },
  );
  server.setRequestHandler('tools/list', () => client.listTools());
  server.setRequestHandler('tools/call', ({ params: { name, arguments: given = {} } }, context) =>
    client.callTool({ name, arguments: given }, optionsOf(context)),
  );
  server.setRequestHandler('resources/list', () => client.listResources());
  server.setRequestHandler('resources/templates/list', () => client.listResourceTemplates());
  server.setRequestHandler('resources/read', ({ params: { uri } }, context) =>
    client.readResource({ uri }, optionsOf(context)),
  );
  server.setRequestHandler('prompts/list', () => client.listPrompts());
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: given = {} } }) =>
    client.getPrompt({ name, arguments: given }),
  );
  return server;
}

/** Progress is asked for only where the client wants it. */
function optionsOf({ mcpReq }: ServerContext): RequestOptions {
  const progressToken = mcpReq._meta?.progressToken;
  const onprogress: NonNullable<RequestOptions['onprogress']> = ({ progress, total = 0 }) =>
    void mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken: progressToken ?? '', progress, total },
    });
  return { signal: mcpReq.signal, timeout: longestCallMs, ...(progressToken === undefined ? {} : { onprogress }) };
}
