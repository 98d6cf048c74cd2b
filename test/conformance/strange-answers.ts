/** Answers that no adapter may accept, and the server that gives them. @module */
import { afterAll, beforeAll } from '@jest/globals';
import { createOutbound, type Outbound } from '../../src/outbound/outbound.ts';
import { type AnsweringServer, type FixedAnswer, startAnswering } from './answering-server.ts';

type Place = { readonly sandboxUrl: string; readonly outbound: Outbound };

/** The adapter beside the server that it asks; both are there once the tests of the block run. */
export function besideAnySandbox<Adapter>(adapterAt: (place: Place) => Adapter) {
  const beside = {} as { server: AnsweringServer; adapter: Adapter };
  let outbound: Outbound;
  beforeAll(async () => {
    beside.server = await startAnswering();
    outbound = createOutbound({ allowedOrigins: [beside.server.url] });
    beside.adapter = adapterAt({ sandboxUrl: beside.server.url, outbound });
  });
  afterAll(async () => {
    await outbound.close();
    await beside.server.stop();
  });
  return beside;
}

/** Each of these is wrong where only that answer would do. */
export function strangeBeside({ status, body }: { readonly status: 200 | 201; readonly body: object }) {
  const rows: [what: string, answer: FixedAnswer][] = [
    ['500', { status: 500 }],
    ['429', { status: 429 }],
    ['another success', { status: status === 200 ? 201 : 200, body: JSON.stringify(body) }],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }],
    ['no JSON', { status, body: '<html>' }],
    ['too long an answer', { status, body: JSON.stringify({ ...body, padding: 'x'.repeat(20_000) }) }],
    ['a closed line', { status, hangUp: true }],
  ];
  return rows;
}
