/**
 * The only place where euros become cents and back, and where cents are multiplied. EUR only, so a safe integer is
 * enough (90 trillion). `…Euros` exists on the wire, `…Cents` inside.
 * @module
 */
declare const centsBrand: unique symbol;
export type Cents = number & { readonly [centsBrand]: true };

declare const eurosBrand: unique symbol;
/** The wire form of an amount. Only `eurosFromCents` makes it, so an answer cannot return cents or an input as euros. */
export type Euros = number & { readonly [eurosBrand]: true };

export const zero = 0 as Cents;

/** Asserts that a number is whole cents within the safe range. */
export function cents(value: number): Cents {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not whole cents: ${value}`);
  return value as Cents;
}

export const centsOrNull = (value: number | null | undefined): Cents | null => (value == null ? null : cents(value));

const wireForm = /^\d{1,9}(\.\d{1,2})?$/;

/** A wire amount whose shortest decimal form has at most nine digits and two decimals; otherwise undefined. */
export function centsFromEuros(euros: number): Cents | undefined {
  const text = String(euros);
  if (!wireForm.test(text)) return undefined;
  const [whole = '0', fraction = ''] = text.split('.');
  return cents(Number(whole) * 100 + Number(fraction.padEnd(2, '0')));
}

/** The wire form: a JSON number with at most two decimals, because division gives the double nearest to them. */
export const eurosFromCents = (amount: Cents): Euros => (cents(amount) / 100) as Euros;

export const eurosOrNull = (amount: Cents | null): Euros | null => (amount === null ? null : eurosFromCents(amount));

/** For people: `12.50`. The currency is said by the sentence around it. */
export const inWords = (amount: number): string => (amount / 100).toFixed(2);

export const add = (...amounts: readonly number[]): Cents => cents(amounts.reduce((sum, amount) => sum + amount, 0));
export const subtract = (from: number, amount: number): Cents => cents(from - amount);
export const least = (...amounts: readonly number[]): Cents => cents(Math.min(...amounts));

/** Percent of an amount, rounded down: a tolerance never grows by rounding. */
export const percentOf = (amount: number, percent: number): Cents => cents(Math.floor((amount * percent) / 100 + 1e-9));

/** A part of an amount in hundredths of a percent, rounded down. The amount may have at most nine digits of euros. */
export const share = (amount: number, basisPoints: number): Cents =>
  cents(Math.floor(cents(amount * basisPoints) / 10_000));
