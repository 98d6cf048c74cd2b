/** The sandbox's card processor adapter: the suite for all, and that it believes no strange answer. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSandboxCardProcessor } from '../../../src/adapters/card-processor/sandbox.ts';
import type { CardProcessor } from '../../../src/domains/cards/cards/card.port.ts';
import { createOutbound, type Outbound } from '../../../src/outbound/outbound.ts';
import { startWorld } from '../../sandbox/world.ts';
import { type AnsweringServer, startAnswering } from '../answering-server.ts';
import { cardProcessorConformance } from './card-processor-conformance.ts';

const nobody = 'http://127.0.0.1:9';

cardProcessorConformance('sandbox', async () => {
  const world = await startWorld();
  const outbound = createOutbound({ allowedOrigins: [world.url, nobody] });
  return {
    processor: createSandboxCardProcessor({ sandboxUrl: world.url, outbound }),
    processorAway: createSandboxCardProcessor({ sandboxUrl: nobody, outbound }),
    async stop() {
      await outbound.close();
      await world.stop();
    },
  };
});

describe('strange answers', () => {
  let server: AnsweringServer;
  let outbound: Outbound;
  let processor: CardProcessor;
  beforeAll(async () => {
    server = await startAnswering();
    outbound = createOutbound({ allowedOrigins: [server.url] });
    processor = createSandboxCardProcessor({ sandboxUrl: server.url, outbound });
  });
  afterAll(async () => {
    await outbound.close();
    await server.stop();
  });

  const card = { cardRef: 'pc_1', last4: '1234', brand: 'visa', expiryMonth: 5, expiryYear: 2030 };
  const issue = () => processor.issueCard({ cardId: 'ca_1', usage: 'multi', idempotencyKey: 'k' });

  test('the documented one is understood, and anything beside it is dropped', async () => {
    server.answerWith({ status: 201, body: JSON.stringify({ ...card, number: '4000000000000002', cvc: '123' }) });
    expect(await issue()).toEqual(card);
    expect(server.asked.at(-1)).toMatchObject({
      method: 'POST',
      url: '/processor/cards',
      headers: { 'idempotency-key': 'k' },
      body: '{"cardId":"ca_1","usage":"multi"}',
    });
  });

  test.each([
    ['500', { status: 500 }],
    ['429', { status: 429 }],
    ['400', { status: 400, body: '{"error":"no"}' }],
    ['another success', { status: 200, body: JSON.stringify(card) }],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }],
    ['no JSON', { status: 201, body: '<html>' }],
    ['too long an answer', { status: 201, body: JSON.stringify({ ...card, padding: 'x'.repeat(20_000) }) }],
    ['a number for last4', { status: 201, body: JSON.stringify({ ...card, last4: '4000000000000002' }) }],
    ['a month 13', { status: 201, body: JSON.stringify({ ...card, expiryMonth: 13 }) }],
    ['a closed line', { status: 201, hangUp: true }],
  ])('%s is `unavailable`', async (_what, answer) => {
    server.answerWith(answer);
    await expect(issue()).rejects.toMatchObject({ name: 'DomainError', code: 'unavailable' });
  });

  const mint = () =>
    processor.mintPaymentToken({
      cardRef: 'pc_1',
      merchantId: 'm_1',
      ceilingCents: 100,
      expiresAt: new Date(),
      idempotencyKey: 'k',
    });

  test.each([400, 403, 405, 413])('%i to a mint is a refusal for good', async (status) => {
    server.answerWith({ status, body: '{"error":"no"}' });
    expect(await mint()).toEqual({ outcome: 'refused', reason: 'not_accepted' });
  });

  test.each([408, 425, 429, 500, 503])('%i to a mint is `unavailable`', async (status) => {
    server.answerWith({ status });
    await expect(mint()).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('a state that was not set is `unavailable`; a reference is escaped into the path', async () => {
    server.answerWith({ status: 200, body: '{"cardRef":"../tokens","state":"active"}' });
    const change = { cardRef: '../tokens', state: 'frozen' } as const;
    await expect(processor.setCardState(change)).rejects.toMatchObject({ code: 'unavailable' });
    expect(server.asked.at(-1)?.url).toBe('/processor/cards/..%2Ftokens/state');
  });
});
