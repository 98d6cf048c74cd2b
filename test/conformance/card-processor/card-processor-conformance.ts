/** The requirements for every card processor adapter. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CardProcessor } from '../../../src/domains/cards/cards/card.port.ts';
import { newId } from '../../../src/kernel/ids.ts';

export type CardProcessorHarness = {
  processor: CardProcessor;
  /** The same adapter, at an address without a server. */
  processorAway: CardProcessor;
  stop(): Promise<void>;
};

export function cardProcessorConformance(name: string, makeHarness: () => Promise<CardProcessorHarness>): void {
  describe(`card processor: ${name}`, () => {
    let harness: CardProcessorHarness;
    beforeAll(async () => {
      harness = await makeHarness();
    });
    afterAll(() => harness.stop());

    const issue = (idempotencyKey: string = newId('card')) =>
      harness.processor.issueCard({ cardId: newId('card'), usage: 'multi', idempotencyKey });
    const inAnHour = () => new Date(Date.now() + 3_600_000);
    const mint = (cardRef: string, idempotencyKey: string = newId('checkout')) =>
      harness.processor.mintPaymentToken({
        cardRef,
        merchantId: 'm_1',
        ceilingCents: 1_000,
        expiresAt: inAnHour(),
        idempotencyKey,
      });

    test('issues a card with a reference, four digits and an expiry, and no number', async () => {
      const card = await issue();
      expect(card).toEqual({
        cardRef: expect.any(String),
        last4: expect.stringMatching(/^\d{4}$/),
        brand: expect.any(String),
        expiryMonth: expect.any(Number),
        expiryYear: expect.any(Number),
      });
      // Random characters of the reference may be digits.
      const { cardRef: _reference, ...others } = card;
      expect(JSON.stringify(others)).not.toMatch(/\d{12,}/);
    });

    test('issues one card per key, also in parallel', async () => {
      const order = { cardId: newId('card'), usage: 'single' as const, idempotencyKey: newId('card') };
      const cards = await Promise.all([1, 2, 3].map(() => harness.processor.issueCard(order)));
      expect(cards).toEqual([cards[0], cards[0], cards[0]]);
      expect((await issue()).cardRef).not.toBe(cards[0]?.cardRef);
    });

    test('refuses a key that issued another card', async () => {
      const idempotencyKey = newId('card');
      await issue(idempotencyKey);
      await expect(issue(idempotencyKey)).rejects.toMatchObject({ code: 'idempotency_conflict' });
    });

    test('sets states repeatably; closed is for good; an unknown card is named so', async () => {
      const { cardRef } = await issue();
      for (const state of ['frozen', 'frozen', 'active', 'closed', 'closed'] as const) {
        expect(await harness.processor.setCardState({ cardRef, state })).toEqual({ outcome: 'set' });
      }
      const reopened = await harness.processor.setCardState({ cardRef, state: 'active' });
      expect(reopened).toEqual({ outcome: 'refused', reason: 'closed' });
      const unknown = await harness.processor.setCardState({ cardRef: 'pc_nothing', state: 'active' });
      expect(unknown).toEqual({ outcome: 'refused', reason: 'unknown_card' });
    });

    test('mints one token per key with the first expiry; other keys get others', async () => {
      const [{ cardRef }, key] = [await issue(), newId('checkout')];
      const first = await mint(cardRef, key);
      expect(first).toMatchObject({ outcome: 'minted', paymentToken: expect.any(String) });
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await mint(cardRef, key)).toEqual(first);
      expect(await mint(cardRef)).not.toEqual(first);
    });

    test('mints no token for a closed or unknown card', async () => {
      const { cardRef } = await issue();
      await harness.processor.setCardState({ cardRef, state: 'closed' });
      expect(await mint(cardRef)).toEqual({ outcome: 'refused', reason: 'closed' });
      expect(await mint('pc_nothing')).toEqual({ outcome: 'refused', reason: 'unknown_card' });
    });

    test('reports `unavailable` when no server answers', async () => {
      const away = harness.processorAway;
      const order = { cardId: newId('card'), usage: 'multi' as const, idempotencyKey: 'k' };
      const mintOrder = {
        cardRef: 'pc_1',
        merchantId: 'm',
        ceilingCents: 1,
        expiresAt: inAnHour(),
        idempotencyKey: 'k',
      };
      await expect(away.issueCard(order)).rejects.toMatchObject({ name: 'DomainError', code: 'unavailable' });
      await expect(away.setCardState({ cardRef: 'pc_1', state: 'frozen' })).rejects.toMatchObject({
        code: 'unavailable',
      });
      await expect(away.mintPaymentToken(mintOrder)).rejects.toMatchObject({ code: 'unavailable' });
    });
  });
}
