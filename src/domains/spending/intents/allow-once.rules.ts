/**
 * Which charge an intent of `allow-once` lets pass: the declined one again, by the same merchant, for no more than it
 * asked for. Pure; agent and card are those of the intent, and its deadline is checked elsewhere.
 * @module
 */
import { day } from '../../../kernel/instant.ts';
import { type Figures, normalised, type RequestFacts } from '../policies/policy.rules.ts';

/** From the call of the owner on. The same time that a retry has after a person's approval. */
export const allowedOnceMinutes = 15;

/** Older declines are not allowed any more: the owner has to know what the charge was. */
export const allowOnceWithinMs = 7 * day;

/** The merchant as the network named it. */
export type ChargedMerchant = {
  readonly id: string;
  readonly name: string;
  readonly mcc: string;
  readonly country: string;
};

/** What a person is asked about, or has allowed. */
export type DeclinedCharge = {
  readonly transactionId: string;
  readonly merchant: ChargedMerchant;
  /** Why it was declined: the code of the rule, and its figures. */
  readonly rule: string;
  readonly figures: Figures;
};

/** Of an intent that lets one declined charge pass. */
export type Allowance = { readonly transactionId: string; readonly merchant: ChargedMerchant };

/** Compared exactly, without the tolerance of the policy and without resemblance: a person allowed this very charge. */
export function isAllowed(
  { merchant }: Allowance,
  allowedCents: number,
  { amountCents, merchant: asking, mcc, country, kind }: RequestFacts,
): boolean {
  if (kind === 'verification' || amountCents > allowedCents) return false;
  if (asking?.id !== merchant.id || mcc !== merchant.mcc || country !== merchant.country) return false;
  return isSameName(asking.name ?? '', merchant.name);
}

function isSameName(asked: string, allowed: string): boolean {
  const name = normalised(allowed);
  return asked === allowed || (name !== '' && normalised(asked) === name);
}
