/** What may be done with a beneficiary: who may pay it, and when a screening is a hit. Pure. @module */
import type { NameMatch } from './name-match.rules.ts';

export const beneficiaryStatuses = ['active', 'disabled'] as const;
export type BeneficiaryStatus = (typeof beneficiaryStatuses)[number];

export const screeningResults = ['clear', 'hit'] as const;
export type ScreeningResult = (typeof screeningResults)[number];

export type ScreeningOccasion = 'created' | 'renamed' | 'sending';

/** A match that a person found to be another person. */
export type Dismissal = { readonly reference: string; readonly reason: string };

/** The matches that remain once the dismissed entries are left out. Any that is left is a hit. */
export function screened(
  matches: readonly NameMatch[],
  dismissals: readonly Dismissal[],
): { readonly result: ScreeningResult; readonly matches: readonly NameMatch[] } {
  const dismissed = new Set(dismissals.map(({ reference }) => reference));
  const open = matches.filter(({ reference }) => !dismissed.has(reference));
  return { result: open.length > 0 ? 'hit' : 'clear', matches: open };
}

type Payee = {
  readonly status: BeneficiaryStatus;
  readonly screeningResult: ScreeningResult;
  readonly agentsMayPay: boolean;
};

/** Why money must not be sent to the beneficiary; undefined where it may. Reads on from the beneficiary's id. */
export function payRefusal(payee: Payee, by: 'owner' | 'agent'): string | undefined {
  if (payee.screeningResult === 'hit') return 'resembles a name of the sanctions list';
  if (payee.status !== 'active') return 'is disabled';
  if (by === 'agent' && !payee.agentsMayPay) return 'is not one that agents may pay';
  return undefined;
}
