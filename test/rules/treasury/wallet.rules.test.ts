/** Wallets close only when empty and unneeded, and sandbox IBANs have right check digits. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { germanIban, sandboxBic } from '../../../src/domains/treasury/wallets/iban.rules.ts';
import {
  closeWallet,
  deepestLevel,
  mayHaveChild,
  walletStatuses,
} from '../../../src/domains/treasury/wallets/wallet.rules.ts';
import { hasRightCheckDigits } from '../../../src/kernel/iban.ts';

const count = fc.integer({ min: 0, max: 3 });
const facts = fc.record({
  isDefault: fc.boolean(),
  availableCents: count,
  heldCents: count,
  openChildren: count,
  drawingAgents: count,
});
const free = { isDefault: false, availableCents: 0, heldCents: 0, openChildren: 0, drawingAgents: 0 };

test('a closed wallet stays closed after every command', () => {
  fc.assert(
    fc.property(facts, (any) => expect(closeWallet('closed', any)).toEqual({ outcome: 'already', next: 'closed' })),
  );
});

test('a wallet can be closed exactly when it is not the default and has no money, no child wallet and no agent', () => {
  fc.assert(
    fc.property(fc.constantFrom('active' as const, 'frozen' as const), facts, (from, any) => {
      const isFree = !any.isDefault && any.availableCents + any.heldCents + any.openChildren + any.drawingAgents === 0;
      expect(closeWallet(from, any).outcome).toBe(isFree ? 'moved' : 'refused');
    }),
  );
});

test('a refused close names the required step', () => {
  const refusals = [
    [{ isDefault: true }, 'this is the default wallet; make another one the default first'],
    [{ availableCents: 1_250 }, 'it holds 12.50 euros; move them first'],
    [{ heldCents: 300 }, '3.00 euros are held for open payments; wait until they end'],
    [{ openChildren: 2 }, '2 open wallets lie below it; close them first'],
    [{ drawingAgents: 1 }, '1 agents draw on it; close them first'],
  ] as const;
  for (const [fact, why] of refusals) {
    expect(closeWallet('active', { ...free, ...fact })).toEqual({ outcome: 'refused', why });
  }
  expect(walletStatuses).toEqual(['active', 'frozen', 'closed']);
});

test('a wallet that can be closed is closed', () => {
  for (const from of ['active', 'frozen'] as const)
    expect(closeWallet(from, free)).toEqual({ outcome: 'moved', next: 'closed' });
});

test('wallets nest five levels deep', () => {
  expect(Array.from({ length: 6 }, (_, n) => mayHaveChild(n + 1))).toEqual([true, true, true, true, false, false]);
  expect(deepestLevel).toBe(5);
});

test('every IBAN has 22 characters and check digits that hold; any changed digit breaks them', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9_999_999_999 }),
      fc.integer({ min: 10_000_000, max: 99_999_999 }),
      fc.integer({ min: 4, max: 21 }),
      fc.integer({ min: 1, max: 9 }),
      (number, bank, place, by) => {
        const iban = germanIban(String(bank), number);
        expect(iban).toMatch(/^DE\d{20}$/);
        expect(hasRightCheckDigits(iban)).toBe(true);
        const other = (Number(iban[place]) + by) % 10;
        expect(hasRightCheckDigits(iban.slice(0, place) + String(other) + iban.slice(place + 1))).toBe(false);
      },
    ),
  );
});

test('the IBAN calculation agrees with published examples', () => {
  expect(germanIban('37040044', 532013000)).toBe('DE89370400440532013000');
  expect(germanIban('37040044', 1)).toBe('DE41370400440000000001');
  expect(() => germanIban('3704004', 1)).toThrow('an IBAN of 3704004 and 1');
  expect(() => germanIban('370400444', 1)).toThrow();
  expect(() => germanIban('37040044', 10_000_000_000)).toThrow('an IBAN of 37040044 and 10000000000');
  expect(hasRightCheckDigits('GB29NWBK60161331926819')).toBe(true);
  expect(hasRightCheckDigits('FR1420041010050500013M02606')).toBe(true);
  expect(hasRightCheckDigits('GB29NWBK60161331926818')).toBe(false);
  expect(sandboxBic).toMatch(/^[A-Z]{6}[A-Z0-9]0[A-Z0-9]{3}$/);
});
