/**
 * The published encryption keys of a merchant. A merchant is not trusted: no behaviour of it makes the call throw.
 * Which of the keys counts, and whether it may be used, is decided by the rules.
 * @module
 */

export type KeySetOutcome =
  | { readonly outcome: 'answered'; readonly body: unknown }
  /** `why` names the host and nothing secret. */
  | { readonly outcome: 'no_answer'; readonly why: string; readonly isForGood: boolean };

export type MerchantKeys = {
  /** `uri` was compared with the realm of the challenge. It is fetched by https alone, without redirects. */
  fetchKeySet(uri: string): Promise<KeySetOutcome>;
};
