/** Goal: a charge finds the recurring intent that is meant, in its window alone. Method: examples and a property. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { matchableIntent } from '../../../src/domains/spending/intents/matchable-intent.rules.ts';
import type { Recurring, TakenWindow } from '../../../src/domains/spending/intents/windows/recurrence.rules.ts';
import { matchIntent } from '../../../src/domains/spending/policies/intent-match.rules.ts';
import { day, later } from '../../../src/kernel/instant.ts';

const anchorAt = new Date('2026-11-20T09:30:00Z');
const recurring: Recurring = {
  cadence: 'monthly',
  windowStartDaysBefore: 3,
  windowEndDaysAfter: 2,
  amountTolerancePercent: 10,
  merchantMatch: true,
};
const music = {
  id: 'int_music',
  expectedAmountCents: 1_000,
  expectedMerchant: 'Music Club',
  recurring,
  anchorAt,
  expiresAt: later(anchorAt, 366 * day),
};
const once = { id: 'int_once', expectedAmountCents: 1_000, expectedMerchant: 'Music Club', expiresAt: music.expiresAt };
const inWindow = new Date('2026-12-18T12:00:00Z');
type Over = Partial<typeof music> & { taken?: readonly TakenWindow[] };
const asked = (
  charge: { amountCents?: number; merchant?: string; recurring?: boolean; at?: Date },
  over: Over = {},
  others: (typeof once)[] = [],
  policysPercent: number | null = null,
) => {
  const { taken = [], ...more } = over;
  const at = charge.at ?? inWindow;
  const candidates = [
    matchableIntent({ ...music, ...more }, taken, at),
    ...others.map((one) => matchableIntent(one, [], at)),
  ];
  const { amountCents = 1_000, merchant = 'Music Club' } = charge;
  return matchIntent(
    candidates,
    { amountCents, merchant: { name: merchant }, recurring: charge.recurring },
    policysPercent,
  );
};

test('its own tolerance counts where the policy names none: 11.00 of 10.00 fits, 11.01 does not', () => {
  expect(asked({ amountCents: 1_100 })).toMatchObject({ outcome: 'matched' });
  expect(asked({ amountCents: 1_101 })).toMatchObject({
    outcome: 'mismatched',
    reason: 'intent int_music expects 10.00 (with tolerance 11.00), asked 11.01',
  });
});

test('the policy’s tolerance bounds the intent’s, and a wider one does not extend it', () => {
  expect(asked({ amountCents: 1_050 }, {}, [], 5)).toMatchObject({ outcome: 'matched' });
  expect(asked({ amountCents: 1_051 }, {}, [], 5)).toMatchObject({
    outcome: 'mismatched',
    reason: 'intent int_music expects 10.00 (with tolerance 10.50), asked 10.51',
  });
  expect(asked({ amountCents: 1_001 }, {}, [], 0)).toMatchObject({ outcome: 'mismatched' });
  expect(asked({ amountCents: 1_101 }, {}, [], 50)).toMatchObject({ outcome: 'mismatched' });
});

test('another merchant fits only where the merchant does not matter', () => {
  expect(asked({ merchant: 'Fish Market' })).toMatchObject({
    outcome: 'mismatched',
    reason: expect.stringContaining('Fish Market'),
  });
  const anywhere = { recurring: { ...recurring, merchantMatch: false } };
  expect(asked({ merchant: 'Fish Market' }, anywhere)).toMatchObject({ outcome: 'matched' });
});

test('outside of its windows, and twice in one, it does not fit, with the time of the next window', () => {
  expect(asked({ at: new Date('2026-12-01T00:00:00Z') })).toMatchObject({
    outcome: 'mismatched',
    misfits: [{ field: 'window', reason: expect.stringContaining('may be charged next from 2026-12-17') }],
  });
  expect(asked({}, { taken: [{ number: 2, status: 'matched', transactionId: 'tx_1' }] })).toMatchObject({
    outcome: 'mismatched',
    misfits: [{ field: 'window', reason: expect.stringContaining('transaction tx_1 was that charge') }],
  });
});

test('a charge under a standing agreement matches the recurring intent, any other the single one', () => {
  expect(asked({ recurring: true }, {}, [once])).toMatchObject({ intent: { id: 'int_music' } });
  expect(asked({ recurring: false }, {}, [once])).toMatchObject({ intent: { id: 'int_once' } });
  expect(asked({ recurring: true }, { expectedAmountCents: 5_000 }, [once])).toMatchObject({
    intent: { id: 'int_music' },
  });
  // Without the merchant's mark, the better match of merchant and amount wins.
  expect(asked({}, {}, [{ ...once, expectedAmountCents: 5_000 }])).toMatchObject({ intent: { id: 'int_music' } });
});

test('without a standing agreement both kinds are candidates, so that the first charge of a subscription matches', () => {
  expect(asked({ recurring: false })).toMatchObject({ outcome: 'matched', intent: { id: 'int_music' } });
  const closed = { taken: [{ number: 2, status: 'matched', transactionId: 'tx_1' }] } as const;
  expect(asked({ recurring: true }, closed, [once])).toMatchObject({ outcome: 'matched', intent: { id: 'int_once' } });
});

test('no charge ever matches outside a window, above the tolerance or in a window that is paid for', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 400 * 24 }),
      fc.integer({ min: 1, max: 2_000 }),
      fc.option(fc.integer({ min: 1, max: 14 })),
      (hours, amountCents, paid) => {
        const at = later(anchorAt, (hours * day) / 24);
        const taken = paid === null ? [] : [{ number: paid, status: 'matched', transactionId: 'tx_1' } as const];
        const match = asked({ amountCents, at }, { taken });
        const closed = matchableIntent(music, taken, at).closedBecause;
        expect(match.outcome === 'matched').toBe(closed === undefined && amountCents <= 1_100);
      },
    ),
  );
});
