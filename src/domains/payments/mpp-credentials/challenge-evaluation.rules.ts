/**
 * Whether a payment challenge may be answered for an intent: payee, expiry, card network, amount and the owner's rules.
 * The texts that a merchant displays (`merchantName`, `description`, `realm`) are never compared. Pure: rows, rules and
 * the time are arguments.
 * @module
 */
import type { ErrorCode } from '../../../kernel/errors.ts';
import { type MatchableIntent, type Misfit, misfitsOf, normalised } from '../../spending/policies/policy.rules.ts';
import type { Decision } from '../network/authorization.rules.ts';

/** What the rules look at of a challenge; `challenge.wire.ts` reads the whole of it. */
export type ChallengeTerms = { readonly id: string; readonly expires?: string | undefined };
export type ChargeTerms = {
  readonly amountCents: number;
  readonly recipient: string | undefined;
  readonly acceptedNetworks: readonly string[];
};

/** Who is paid, as far as the challenge and the address that sent it say. */
export type Payee = {
  /** Of the address that sent the challenge, without port, in lower case; null where no address is known. */
  readonly host: string | null;
  /** The merchant's id at its acquirer. */
  readonly recipient: string | null;
  /** The merchant that the payment token is minted for: the recipient, or the host without one. */
  readonly reference: string;
};

export type Refused = { readonly ok: false; readonly code: string; readonly reason: string };
export type PayeeReading = { readonly ok: true; readonly payee: Payee } | Refused;

/** The form of a merchant's id for which the card processor mints payment tokens. */
const referenceForm = /^[A-Za-z0-9_.:-]{1,128}$/;
/** Ids of challenges are stored and looked up by index. */
const longestChallengeId = 512;

/** `origin` is that of the address that sent the challenge; null where only the challenge is known. */
export function readPayee({ recipient }: Pick<ChargeTerms, 'recipient'>, origin: string | null): PayeeReading {
  const host = origin === null ? null : hostOf(origin);
  const reference = recipient ?? host;
  if (reference === null)
    return refused('challenge_payee', 'the challenge names no recipient, so nothing says who is paid');
  if (!referenceForm.test(reference)) {
    return refused(
      'challenge_payee',
      'the recipient of the challenge is not an id that a payment token can be made for',
    );
  }
  return { ok: true, payee: { host, recipient: recipient ?? null, reference } };
}

const hostOf = (address: string): string | null =>
  URL.parse(address)
    ?.hostname.replace(/^\[|\]$/g, '')
    .replace(/\.$/, '') ?? null;

/**
 * Whether the merchant that an intent expects is the payee: it reads like the recipient, or it is the host, as a name or
 * as an address. Nothing else that the payee writes is compared, because it identifies no one.
 */
export function isPayee(expectedMerchant: string, { host, recipient }: Payee): boolean {
  const expected = expectedMerchant.trim();
  if (recipient !== null && expected === recipient) return true;
  if (recipient !== null && normalised(expected) !== '' && normalised(expected) === normalised(recipient)) return true;
  return host !== null && expectedHost(expected) === host;
}

/**
 * The merchant that an intent for a challenge expects: the recipient, because minting knows no address and an agent's
 * word about one is no evidence; the host only where the challenge names no recipient.
 */
export const payeeToExpect = ({ reference }: Payee): string => reference;

/** The host in `shop.example`, `shop.example:8443`, `https://shop.example/path`; in lower case and ASCII. */
export function expectedHost(text: string): string | null {
  if (/[\s@\\]/.test(text)) return null;
  if (/^[\da-f:.]*:[\da-f]*:[\da-f:.]*$/i.test(text)) return hostOf(`https://[${text}]`); // IPv6, without brackets.
  return hostOf(/^https?:\/\//i.test(text) ? text : `https://${text}`);
}

export type ChallengeEvaluation =
  | {
      readonly ok: true;
      readonly payee: Payee;
      /** What the payment token is limited to: the amount of the challenge, which no rule of the intent forbids. */
      readonly ceilingCents: number;
    }
  | Refused;

export type ChallengeFacts = {
  readonly challenge: ChallengeTerms;
  readonly charge: Omit<ChargeTerms, 'recipient'>;
  readonly payee: Payee;
  readonly intent: MatchableIntent;
  readonly tolerancePercent: number | null;
  /** The brand of the card. */
  readonly brand: string;
  /** The owner's protection rules for machine payments; undefined where none forbids the payee. */
  readonly protection: { readonly reason: string } | undefined;
  /** What the spending rules decide about the charge now. */
  readonly decision: Pick<Decision, 'outcome' | 'rule' | 'reason'>;
};

/** The first refusal counts. `now` is real time. */
export function evaluateChallenge(facts: ChallengeFacts, now: Date): ChallengeEvaluation {
  const { challenge, charge, payee, intent, brand, protection, decision } = facts;
  if (challenge.id.length > longestChallengeId) {
    return refused('challenge_id', `the id of the challenge is longer than ${longestChallengeId} characters`);
  }
  if (challenge.expires !== undefined && Date.parse(challenge.expires) <= now.getTime())
    return refused('challenge_expired', `the challenge expired at ${challenge.expires}`);
  const networks = charge.acceptedNetworks;
  if (!networks.some((network) => network === brand)) {
    return refused('challenge_network', `the merchant accepts ${networks.join(', ')}; the card is of ${brand}`);
  }
  // The merchant of the intent is compared here, and only with what identifies the payee.
  const [misfit] = misfitsOf({ ...intent, expectedMerchant: null }, charge, facts.tolerancePercent);
  if (misfit !== undefined) return refused(`challenge_${misfit.field}`, misfit.reason);
  if (intent.expectedMerchant != null && intent.expectedMerchant !== '' && !isPayee(intent.expectedMerchant, payee)) {
    const asks = [payee.host, payee.recipient].filter((one) => one !== null).join(', recipient ');
    const reason = `intent ${intent.id} expects ${intent.expectedMerchant}, asked by ${asks}`;
    return refused('challenge_merchant', reason);
  }
  if (protection !== undefined) return refused('protect_rule', protection.reason);
  if (decision.outcome === 'approved') return { ok: true, payee, ceilingCents: charge.amountCents };
  if (decision.rule === 'insufficient_funds') return refused(decision.rule, `${decision.reason}: fund the account`);
  return refused(decision.rule, `forbidden by the rule ${decision.rule}: ${decision.reason}`);
}

export const refused = (code: string, reason: string): Refused => ({
  ok: false,
  code,
  reason: `${reason}; nothing was minted`,
});

/** Refusals that are not by a rule of the owner; every other code is one. */
const refusedWithoutPolicy: Readonly<Record<string, ErrorCode>> = {
  challenge_id: 'invalid_state',
  challenge_expired: 'invalid_state',
  challenge_network: 'invalid_state',
  challenge_payee: 'invalid_state',
  challenge_key: 'invalid_state',
  challenge_amount: 'invalid_state',
  challenge_merchant: 'invalid_state',
  challenge_mcc: 'invalid_state',
  challenge_country: 'invalid_state',
  challenge_window: 'invalid_state',
  checkout_intent: 'invalid_state',
  over_ceiling: 'invalid_state',
  intent: 'invalid_state',
  card: 'invalid_state',
  card_refused: 'invalid_state',
  expired: 'invalid_state',
  insufficient_funds: 'insufficient_funds',
} satisfies Record<`challenge_${Misfit['field']}`, ErrorCode> & Record<string, ErrorCode>;

/** The error of a refusal, for the caller. */
export const refusalErrorCode = (code: string | null): ErrorCode =>
  (code === null ? undefined : refusedWithoutPolicy[code]) ?? 'policy_denied';
