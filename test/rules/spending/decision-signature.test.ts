/** Goal: a seal holds for its decision and for ten minutes. Method: the real vault, moments on both sides. @module */
import { expect, test } from '@jest/globals';
import { askedAs, signDecision, verifyDecision } from '../../../src/domains/identity/approvals/decision-signature.ts';
import { createVault } from '../../../src/vault/vault.ts';

const vault = createVault({ keys: [{ kid: 'one', key: new Uint8Array(32) }] });
const decision = { decision: 'approve', actor: 'key', by: 'key_0', causeId: 'cause', requestId: 'req' } as const;
const at = (ms: number) => new Date(Date.parse('2026-01-01T12:00:00.000Z') + ms);
const minute = 60_000;

test.each([
  [0, 'valid'],
  [10 * minute, 'valid'],
  [10 * minute + 1, 'expired'],
  [-minute, 'valid'], // The clocks of two machines.
])('after %d ms it %s', async (ms, check) => {
  const sealed = await signDecision(vault, 'int_one', decision, at(0));
  expect(await verifyDecision(vault, 'int_one', sealed, at(ms))).toBe(check);
  expect(await verifyDecision(vault, 'int_two', sealed, at(ms))).toBe('invalid');
  expect(await verifyDecision(vault, 'int_one', { ...sealed, by: 'key_1' }, at(ms))).toBe('invalid');
});

test('a repeat within five minutes joins the first request, and a later one gets a new seal', () => {
  expect(askedAs('cause', at(5 * minute - 1))).toBe(askedAs('cause', at(0)));
  expect(askedAs('cause', at(5 * minute))).not.toBe(askedAs('cause', at(0)));
  expect(askedAs('other', at(0))).not.toBe(askedAs('cause', at(0)));
});
