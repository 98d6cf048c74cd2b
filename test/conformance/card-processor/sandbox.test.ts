/** The sandbox's card processor adapter: the suite for all, and that it believes no strange answer. @module */
import { describe, expect, test } from '@jest/globals';
import { createSandboxCardProcessor } from '../../../src/adapters/card-processor/sandbox.ts';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { startWorld } from '../../sandbox/world.ts';
import type { FixedAnswer } from '../answering-server.ts';
import { besideAnySandbox, strangeBeside } from '../strange-answers.ts';
import { cardProcessorConformance } from './card-processor-conformance.ts';

const closedUrl = 'http://127.0.0.1:9';

cardProcessorConformance('sandbox', async () => {
  const world = await startWorld();
  const outbound = createOutbound({ allowedOrigins: [world.url, closedUrl] });
  return {
    processor: createSandboxCardProcessor({ sandboxUrl: world.url, outbound }),
    processorAway: createSandboxCardProcessor({ sandboxUrl: closedUrl, outbound }),
    async stop() {
      await outbound.close();
      await world.stop();
    },
  };
});

describe('strange answers', () => {
  const beside = besideAnySandbox(createSandboxCardProcessor);

  const card = { cardRef: 'pc_1', last4: '1234', brand: 'visa', expiryMonth: 5, expiryYear: 2030 };
  const issue = () => beside.adapter.issueCard({ cardId: 'ca_1', usage: 'multi', idempotencyKey: 'k' });

  test('the documented one is understood, and anything beside it is dropped', async () => {
    beside.server.answerWith({
      status: 201,
      body: JSON.stringify({ ...card, number: '4000000000000002', cvc: '123' }),
    });
    expect(await issue()).toEqual(card);
    expect(beside.server.asked.at(-1)).toMatchObject({
      method: 'POST',
      url: '/processor/cards',
      headers: { 'idempotency-key': 'k' },
      body: '{"cardId":"ca_1","usage":"multi"}',
    });
  });

  test.each<[what: string, answer: FixedAnswer]>([
    ...strangeBeside({ status: 201, body: card }),
    ['400', { status: 400, body: '{"error":"no"}' }],
    ['a number for last4', { status: 201, body: JSON.stringify({ ...card, last4: '4000000000000002' }) }],
    ['a month 13', { status: 201, body: JSON.stringify({ ...card, expiryMonth: 13 }) }],
  ])('%s is `unavailable`', async (_what, answer) => {
    beside.server.answerWith(answer);
    await expect(issue()).rejects.toMatchObject({ name: 'DomainError', code: 'unavailable' });
  });

  const mint = () =>
    beside.adapter.mintPaymentToken({
      cardRef: 'pc_1',
      merchantId: 'm_1',
      ceilingCents: 100,
      expiresAt: new Date(),
      idempotencyKey: 'k',
    });

  test.each([400, 403, 405, 413])('%i to a mint is a refusal for good', async (status) => {
    beside.server.answerWith({ status, body: '{"error":"no"}' });
    expect(await mint()).toEqual({ outcome: 'refused', reason: 'not_accepted' });
  });

  test.each([408, 425, 429, 500, 503])('%i to a mint is `unavailable`', async (status) => {
    beside.server.answerWith({ status });
    await expect(mint()).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('a state that was not set is `unavailable`; a reference is escaped into the path', async () => {
    beside.server.answerWith({ status: 200, body: '{"cardRef":"../tokens","state":"active"}' });
    const change = { cardRef: '../tokens', state: 'frozen' } as const;
    await expect(beside.adapter.setCardState(change)).rejects.toMatchObject({ code: 'unavailable' });
    expect(beside.server.asked.at(-1)?.url).toBe('/processor/cards/..%2Ftokens/state');
  });
});
