/**
 * Compares a credential with what its merchant expects when it verifies: the price, its currency and the payee. A
 * merchant names itself exactly, so nothing is matched loosely. Pure.
 * @module
 */
import { inWords } from '../../../kernel/money.ts';
import { expectedHost, type Payee } from './challenge-evaluation.rules.ts';

/** What is absent is not compared. */
export type Expectation = {
  readonly amountCents?: number | undefined;
  readonly currency?: string | undefined;
  /** The merchant's id at its acquirer, or its host. */
  readonly payee?: string | undefined;
};

type Credential = {
  readonly id: string;
  readonly host?: Payee['host'] | undefined;
  readonly recipient?: Payee['recipient'] | undefined;
  readonly amountCents: number;
  readonly currency: string;
};

/** Undefined where the credential is as expected. The sentence names what it is for, and what was expected. */
export function whyUnexpected(credential: Credential, expected: Expectation): string | undefined {
  const found = [...misfitOfPrice(credential, expected), ...misfitOfPayee(credential, expected)];
  if (found.length === 0) return undefined;
  return `credential ${credential.id} ${found.join(', and ')}; nothing was consumed`;
}

function misfitOfPrice({ amountCents, currency }: Credential, expected: Expectation): string[] {
  const wanted = {
    amountCents: expected.amountCents ?? amountCents,
    currency: (expected.currency ?? currency).toUpperCase(),
  };
  if (wanted.amountCents === amountCents && wanted.currency === currency) return [];
  return [`is for ${inWords(amountCents)} ${currency}, expected ${inWords(wanted.amountCents)} ${wanted.currency}`];
}

function misfitOfPayee({ host, recipient }: Credential, { payee }: Expectation): string[] {
  if (payee === undefined || payee === recipient) return [];
  if (host != null && expectedHost(payee) === host) return [];
  const paid = [host, recipient == null ? null : `recipient ${recipient}`].filter((one) => one != null);
  return [`pays ${paid.join(', ')}, expected ${payee}`];
}
