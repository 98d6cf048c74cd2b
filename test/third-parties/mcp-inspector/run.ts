/**
 * `npm run mcp-inspector`: the command line of the official MCP Inspector checks the tools strictly and buys at a whole
 * installation, one process for each call, in both eras of the protocol. Installs 110 MB when missing.
 * @module
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install, run } from '../install.ts';
import { say, startShopping } from '../mcp-shopping.ts';

type Body = { readonly result: Record<string, unknown>; readonly next: { readonly tool?: string } };
type Answer = { readonly structuredContent?: unknown; readonly content: readonly [{ readonly text: string }] };

const folder = fileURLToPath(new URL('.', import.meta.url));
const program = join(folder, 'node_modules', '.bin', 'mcp-inspector');
await install(folder, '--ignore-scripts');
const shopping = await startShopping();

async function ask(era: string, ...args: readonly string[]): Promise<unknown> {
  const server = ['--server-url', shopping.url, '--transport', 'http', '--protocol-era', era];
  const how = ['--header', `Authorization: Bearer ${shopping.token}`, '--format', 'json', '--quiet'];
  const { code, output, stdout } = await run(process.execPath, [program, '--cli', ...server, ...how, ...args], folder);
  if (code !== 0) throw new Error(`${era} ${args.slice(0, 4).join(' ')} ended with ${code}:\n${output}`);
  const answer = JSON.parse(stdout) as { readonly result?: unknown };
  return answer.result ?? answer;
}

async function call(era: string, tool: string, args: object): Promise<Body> {
  const asked = ['--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)];
  const { structuredContent, content } = (await ask(era, ...asked)) as Answer;
  if (JSON.stringify(structuredContent) !== content[0].text) throw new Error('text and structured content differ');
  return structuredContent as Body;
}

async function buy(era: string): Promise<void> {
  const { tools } = (await ask(era, '--method', 'tools/list', '--strict')) as { tools: readonly object[] };
  say(`${era}: ${tools.length} tools, strictly without an error`);
  const purchaseRef = `lamp ${era}`;
  const declared = await call(era, 'intents_declare', { ...shopping.wish, purchaseRef });
  const intentId = declared.result.id;
  say(`${era}: declared, ${declared.result.status}; next is ${declared.next.tool}`);
  const [waited] = await Promise.all([call(era, 'intents_wait', { intentId, waitSeconds: 45 }), shopping.approve()]);
  say(`${era}: ${waited.result.status}`);
  const payment = { intentId, targetUrl: shopping.targetUrl, purchaseRef };
  const { result: paid } = await call(era, 'checkout_execute', payment);
  const { result: again } = await call(era, 'checkout_execute', payment);
  if (paid.status !== 'paid' || again.transactionId !== paid.transactionId) throw new Error('it did not pay once');
  say(`${era}: paid once in two calls`);
  const { result: trace } = await call(era, 'trace_get', { anyId: paid.transactionId });
  say(`${era}: the trace has ${(trace.entries as readonly object[]).length} entries`);
}

try {
  for (const era of ['legacy', 'modern']) await buy(era);
} finally {
  await shopping.close();
}
