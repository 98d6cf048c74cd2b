/** Goal: an attestation counts up to its window's last millisecond and not beyond. Method: properties over the rule. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { attestedUntil, whyUnattested } from '../../../src/domains/spending/policies/attestation.rules.ts';
import { later, minute } from '../../../src/kernel/instant.ts';

const at = new Date('2026-05-04T12:00:00.000Z');
const terms = (attestationWindowMinutes: number | null) => ({ requireAttestation: true, attestationWindowMinutes });

test('the window is the policy’s, or 15 minutes, and its last instant counts', () => {
  fc.assert(
    fc.property(fc.option(fc.integer({ min: 1, max: 100_000 })), fc.integer({ min: -5, max: 5 }), (window, offMs) => {
      const asked = later(at, (window ?? 15) * minute + offMs);
      expect(attestedUntil(terms(window), at)).toEqual(later(at, (window ?? 15) * minute));
      expect(whyUnattested(terms(window), at, asked) === undefined).toBe(offMs <= 0);
    }),
  );
});

test('the sentence has the figures', () => {
  expect(whyUnattested(terms(null), null, at)).toBe('needs an attestation no older than 15 min, there is none');
  expect(whyUnattested(terms(7), new Date('2026-05-04T11:52:59.999Z'), at)).toBe(
    'needs an attestation no older than 7 min, the last was at 2026-05-04T11:52:59.999Z',
  );
});
