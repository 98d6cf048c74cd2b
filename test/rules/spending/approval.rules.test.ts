/** Goal: a link tells what it may, for as long as it may. Method: properties over states and instants. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { approvedWithOf, passkeyState } from '../../../src/domains/identity/approvals/approval.rules.ts';
import { html } from '../../../src/http/html.ts';

const instants = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true });

test('an owner may approve as soon as one passkey may; otherwise the earliest time is given', () => {
  fc.assert(
    fc.property(fc.array(instants, { maxLength: 4 }), instants, instants, (from, next, now) => {
      const { state, blockedUntil } = passkeyState(
        from.map((approvesFrom) => ({ approvesFrom })),
        next,
        now,
      );
      expect(state === 'ready').toBe(from.some((at) => at <= now));
      expect(state === 'none').toBe(from.length === 0);
      if (state === 'ready') expect(blockedUntil).toBeNull();
      if (state === 'blocked') expect(from.every((at) => at >= (blockedUntil as Date))).toBe(true);
      if (blockedUntil !== null) expect(blockedUntil > now).toBe(true);
    }),
  );
});

test('at its very instant a passkey approves, and one that would approve from now on is not blocked', () => {
  const now = new Date('2026-11-22T10:00:00Z');
  const later = new Date('2026-11-22T10:00:01Z');
  expect(passkeyState([{ approvesFrom: now }], later, now)).toEqual({ state: 'ready', blockedUntil: null });
  expect(passkeyState([{ approvesFrom: later }], now, now)).toEqual({ state: 'blocked', blockedUntil: later });
  expect(passkeyState([], now, now)).toEqual({ state: 'none', blockedUntil: null });
  expect(passkeyState([], later, now)).toEqual({ state: 'none', blockedUntil: later });
});

test('the approver is published as a kind, never by name', () => {
  expect(['key:key_1', 'passkey:psk_1', 'signal:anna', 'policy', 'man_1', null, 'other'].map(approvedWithOf)).toEqual([
    'key',
    'passkey',
    'signal',
    'policy',
    'mandate',
    null,
    null,
  ]);
});

test('no text leaves the place in a page that it was filled into', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', ';', '`', 'a', ' ') }), (text) => {
      const { text: page } = html`<p title="${text}">${text}</p>`;
      const inside = page.slice('<p title="'.length, -'</p>'.length);
      expect(inside.match(/[<>"']/g) ?? []).toEqual(['"', '>']);
    }),
  );
  expect(html`${html`<b>${'<'}</b>`}${undefined}${[html`1`, html`2`]}`.text).toBe('<b>&lt;</b>1\n2');
});
