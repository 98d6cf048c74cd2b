/** The requirements for every source of a sanctions list. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SanctionsList } from '../../../src/domains/treasury/beneficiaries/sanctions.port.ts';

export type SanctionsHarness = { list: SanctionsList; stop(): Promise<void> };

export function sanctionsConformance(name: string, makeHarness: () => Promise<SanctionsHarness>): void {
  describe(`sanctions list: ${name}`, () => {
    let harness: SanctionsHarness;
    beforeAll(async () => {
      harness = await makeHarness();
    });
    afterAll(() => harness.stop());

    test('gives one list with an id, the same object to all who ask while it is the same', async () => {
      const lists = await Promise.all([1, 2, 3].map(() => harness.list.current()));
      expect(lists[0]?.id).toMatch(/^\S.{0,98}\S$/);
      for (const list of lists) expect(list).toBe(lists[0]);
      expect(await harness.list.current()).toBe(lists[0]);
      expect(await harness.list.state()).toBe('ok');
    });

    test('every name has a reference and something to read', async () => {
      for (const { reference, name: listed } of (await harness.list.current()).names) {
        expect(reference).toMatch(/\S/);
        expect(listed).toMatch(/^\S(?:.*\S)?$/);
      }
    });
  });
}
