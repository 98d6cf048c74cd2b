/** The requirements for every simulator of a card network. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { NetworkCharge, NetworkSimulator } from '../../../src/domains/payments/simulations/simulation.port.ts';
import { newId } from '../../../src/kernel/ids.ts';

export type NetworkSimulatorHarness = {
  simulator: NetworkSimulator;
  /** The same adapter, at an address without a server. */
  simulatorAway: NetworkSimulator;
  /** A card that the network can charge. */
  issue(): Promise<string>;
  /** Bursar approves, declines, or is not heard. */
  answers(how: 'approves' | 'declines' | 'too late'): void;
  /** What the network has asked Bursar, as it was sent. */
  asked(): Record<string, unknown>[];
  stop(): Promise<void>;
};

export function networkSimulatorConformance(name: string, makeHarness: () => Promise<NetworkSimulatorHarness>): void {
  describe(`network simulator: ${name}`, () => {
    let harness: NetworkSimulatorHarness;
    beforeAll(async () => {
      harness = await makeHarness();
    });
    afterAll(() => harness.stop());

    const order = async (over: Partial<NetworkCharge> = {}): Promise<NetworkCharge> => ({
      simulationId: newId('simulation'),
      cardRef: over.cardRef ?? (await harness.issue()),
      amountCents: 1_250,
      merchant: { name: 'Café Zürich', mcc: '5812', country: 'CH' },
      idempotencyKey: newId('simulation'),
      ...over,
    });

    test('sends Bursar an authorization with every field of the charge, and returns its transaction', async () => {
      harness.answers('approves');
      const charge = await order();
      expect(await harness.simulator.charge(charge)).toEqual({
        outcome: 'asked',
        authorizationId: expect.any(String),
        transactionId: expect.stringMatching(/^tx_/),
      });
      expect(harness.asked().at(-1)).toMatchObject({
        ...{ cardRef: charge.cardRef, amountCents: 1_250, currency: 'EUR', kind: 'purchase' },
        ...{ merchant: charge.merchant, simulation: charge.simulationId },
      });
    });

    test('charges once per key, also in parallel; another key charges again', async () => {
      harness.answers('approves');
      const charge = await order();
      const before = harness.asked().length;
      const outcomes = await Promise.all([1, 2, 3].map(() => harness.simulator.charge(charge)));
      expect(outcomes).toEqual([outcomes[0], outcomes[0], outcomes[0]]);
      expect(harness.asked()).toHaveLength(before + 1);
      await harness.simulator.charge({ ...charge, idempotencyKey: newId('simulation') });
      expect(harness.asked()).toHaveLength(before + 2);
    });

    test('a declined charge has its transaction too', async () => {
      harness.answers('declines');
      expect(await harness.simulator.charge(await order())).toMatchObject({ outcome: 'asked' });
    });

    test('reports that the network decided without Bursar, and reports it again for the same key', async () => {
      harness.answers('too late');
      const charge = await order();
      const first = await harness.simulator.charge(charge);
      expect(first).toEqual({ outcome: 'undecided', authorizationId: expect.any(String) });
      harness.answers('approves');
      expect(await harness.simulator.charge(charge)).toEqual(first);
    });

    test('refuses an unknown card, and a key that was used for another charge', async () => {
      harness.answers('approves');
      const unknown = await order({ cardRef: 'pc_nothing' });
      expect(await harness.simulator.charge(unknown)).toEqual({ outcome: 'refused', reason: 'unknown_card' });
      const charge = await order();
      await harness.simulator.charge(charge);
      const other = { ...charge, amountCents: 99 };
      expect(await harness.simulator.charge(other)).toEqual({ outcome: 'refused', reason: 'not_accepted' });
    });

    test('reports `unavailable` when no server answers', async () => {
      const charge = await order();
      await expect(harness.simulatorAway.charge(charge)).rejects.toMatchObject({
        name: 'DomainError',
        code: 'unavailable',
      });
    });
  });
}
