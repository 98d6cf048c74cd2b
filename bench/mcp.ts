/**
 * How much longer a call of an MCP tool takes than the operation that it calls, over HTTP, in the same run: one client, one
 * call after the other, in turns. Both eras of the protocol.
 * @module
 */
import { strict as assert } from 'node:assert';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { evaluate, percentile, table } from './support/figures.ts';
import { benchFolder, startBenchPostgres } from './support/postgres.ts';
import { startApi } from './support/program.ts';
import { type Ending, runBench, say, secondsOr } from './support/run.ts';
import { idOf, seedAgents, seededOwner, seedIntents, settle } from './support/seed.ts';

const seconds = secondsOr(20);
const turns = 10;
const mostAddedMs = 3;

type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
};
type Way = { readonly name: string; send(intentId: string): Sent; readonly took: number[] };

const rpc = (
  params: object,
  headers: Record<string, string>,
): Omit<Sent, 'headers'> & { headers: Record<string, string> } => ({
  method: 'POST',
  path: '/mcp',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
});

const callOf = (intentId: string) => ({ name: 'intents_get', arguments: { intentId } });
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const ways: readonly Way[] = [
  { name: 'GET /intents/{id}', took: [], send: (id) => ({ method: 'GET', path: `/intents/${id}`, headers: {} }) },
  {
    name: 'intents_get, protocol 2026-07-28',
    took: [],
    send: (id) =>
      rpc(
        { ...callOf(id), _meta: meta },
        { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'intents_get' },
      ),
  },
  {
    name: 'intents_get, protocol 2025-06-18',
    took: [],
    send: (id) => rpc(callOf(id), { 'mcp-protocol-version': '2025-06-18' }),
  },
];

async function startService(atEnd: Ending) {
  const postgres = await startBenchPostgres(atEnd);
  const api = await startApi('live', { databaseUrl: postgres.url, dir: await benchFolder(atEnd) }, atEnd);
  const ownerId = await seededOwner(postgres.sql);
  await seedAgents(postgres.sql, ownerId, 10);
  await seedIntents(postgres.sql, ownerId, 10, 100);
  await settle(postgres.sql);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  atEnd(async () => agent.destroy());
  return async ({ method, path, headers, body }: Sent): Promise<string> => {
    const answer = await new Promise<Parameters<typeof text>[0]>((resolve, reject) => {
      const sent = request(new URL(path, api.url), {
        agent,
        method,
        headers: { ...headers, authorization: `Bearer ${api.apiKey}` },
      });
      sent.on('error', reject).on('response', resolve).end(body);
    });
    return text(answer);
  };
}

await runBench('mcp', async (atEnd) => {
  const send = await startService(atEnd);
  const ids = Array.from({ length: 100 }, (_, i) => idOf('int', 1 + i));
  for (const way of ways) assert.match(await send(way.send(ids[0] ?? '')), new RegExp(`"?id\\\\?":\\\\?"${ids[0]}`));
  for (let turn = -2; turn < turns; turn++) {
    for (const way of ways) {
      const until = performance.now() + (seconds * 1_000) / turns / ways.length;
      for (let i = 0; performance.now() < until; i++) {
        const began = performance.now();
        await send(way.send(ids[i % ids.length] ?? ''));
        if (turn >= 0) way.took.push(performance.now() - began); // The first turns compile.
      }
    }
  }
  const inMs = (ms: number): string => `${ms.toFixed(2)} ms`;
  table(
    ['one call after the other', 'calls', 'p50', 'p99'],
    ways.map(({ name, took }) => [
      name,
      String(took.length),
      inMs(percentile(took, 0.5)),
      inMs(percentile(took, 0.99)),
    ]),
  );
  const [operation, ...tools] = ways.map(({ name, took }) => ({ name, p50: percentile(took, 0.5) }));
  say('');
  return evaluate(
    tools.map(({ name, p50 }) => {
      const added = p50 - (operation?.p50 ?? 0);
      return {
        what: `${name} adds`,
        found: inMs(added),
        target: `≤ ${mostAddedMs} ms p50`,
        isMet: added <= mostAddedMs,
      };
    }),
  );
});
