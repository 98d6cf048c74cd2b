/** The sandbox bank's rail: the suite for all, and that the adapter believes no strange answer. @module */
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { createSandboxBankRail } from '../../../src/adapters/bank-rail/sandbox.ts';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { startWorld } from '../../sandbox/world.ts';
import type { FixedAnswer } from '../answering-server.ts';
import { besideAnySandbox, strangeBeside } from '../strange-answers.ts';
import { aPayment, bankRailConformance } from './bank-rail-conformance.ts';

const closedUrl = 'http://127.0.0.1:9';

/** Between adapter and bank: breaks each connection, at once or when the bank has answered. */
async function startCutting(bankUrl: string, when: 'before' | 'after') {
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    const passedOn = ask(new URL(url ?? '/', bankUrl), { method, headers }, (answer) => {
      answer.resume().on('end', () => response.destroy());
    });
    request.pipe(passedOn);
  });
  if (when === 'before') server.on('connection', (socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

bankRailConformance('sandbox', async () => {
  const world = await startWorld();
  const before = await startCutting(world.url, 'before');
  const after = await startCutting(world.url, 'after');
  const outbound = createOutbound({ allowedOrigins: [world.url, before.url, after.url, closedUrl] });
  const railAt = (sandboxUrl: string) => createSandboxBankRail({ sandboxUrl, outbound });
  return {
    rail: railAt(world.url),
    taken: async (endToEndId) => {
      const { href } = new URL(`/bank/payments/${endToEndId}`, world.url);
      // A connection that breaks is the answer about a payment of which the bank says nothing.
      const status = await fetch(href).then(
        (answer) => answer.status,
        () => 'silent',
      );
      return status === 404 ? 0 : 1;
    },
    answers: { rejectedText: 'FAIL closed', reasonCode: 'AC04', silentText: 'SILENT' },
    cut: { before: railAt(before.url), after: railAt(after.url) },
    away: railAt(closedUrl),
    async stop() {
      await outbound.close();
      await Promise.all([before.stop(), after.stop()]);
      await world.stop();
    },
  };
});

describe('strange answers', () => {
  const beside = besideAnySandbox(createSandboxBankRail);
  const strange: [what: string, answer: FixedAnswer][] = [
    ...strangeBeside({ status: 200, body: { status: 'accepted' } }),
    ['another state', { status: 200, body: '{"status":"perhaps"}' }],
    ['a rejection without a reason', { status: 200, body: '{"status":"rejected"}' }],
    ['a 404 of another server', { status: 404, body: '{"error":"no such page"}' }],
    ['a refusal', { status: 400, body: '{"error":"no"}' }],
  ];

  test('the documented one is understood, and anything beside it is dropped', async () => {
    beside.server.answerWith({
      status: 200,
      body: JSON.stringify({ status: 'returned', reasonCode: 'MD07', more: 1 }),
    });
    const payment = aPayment();
    expect(await beside.adapter.send(payment)).toEqual({ outcome: 'taken', status: 'settled' });
    expect(beside.server.asked.at(-1)).toMatchObject({ method: 'POST', url: '/bank/payments' });
    expect(JSON.parse(beside.server.asked.at(-1)?.body ?? '')).toEqual(payment);
    expect(await beside.adapter.ask(payment.endToEndId)).toEqual({ outcome: 'known', status: 'settled' });
  });

  test.each(strange)('%s leaves the outcome unknown', async (_what, answer) => {
    beside.server.answerWith(answer);
    const asked = beside.server.asked.length;
    expect(await beside.adapter.send(aPayment())).toMatchObject({ outcome: 'unknown' });
    expect(beside.server.asked.length - asked).toBeLessThanOrEqual(1);
    expect(await beside.adapter.ask('TR1')).toMatchObject({ outcome: 'no_answer' });
    expect(await beside.adapter.recall('TR1', 'CUST')).toMatchObject({ outcome: 'no_answer' });
  });
});
